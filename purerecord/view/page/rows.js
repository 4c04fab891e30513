// The rows of a table or gallery, asked for when they are to be seen. Two kinds with the same face:
// `AllRows` of files, any of which is reached at once, and `FoundRows` of a filter, found one after the other.
//
//   size    how many rows can be shown now         exact    whether that is all of them
//   at(i)   the row, or undefined while it comes   want(first, last)   these are to be seen
//   error   a sentence, if asking failed           place(row) -> i     where a row of a file is, or -1

import { ask, pause } from "./requests.js";

const PAGE = 50;
const KEPT = 60; // pages
const PARALLEL = 3;
const EAGER = 2000; // rows that are searched for without being scrolled to: small results are counted at once
const MOST = 200; // rows of an answer

export class AllRows {
  // `files` are those of api/files; `changed` is called when something else is to be shown.
  constructor(scope, parameters, files, changed) {
    Object.assign(this, { scope, parameters, changed, error: null, pages: new Map(), asked: new Map(), wanted: [0, 0], running: 0 });
    this.filtered = false;
    this.update(files);
  }

  // More records have been counted.
  update(files) {
    const mine = this.scope === "all" ? files : files.filter((file) => file.file === this.scope);
    this.parts = [];
    let begin = 0;
    for (const file of mine) {
      this.parts.push({ file: file.file, begin, end: begin + file.records, exact: file.exact });
      begin += file.records;
    }
    // Rows of a file begin elsewhere when one before it has grown.
    const key = this.parts.map((part) => part.begin).join();
    if (this.key !== undefined && this.key !== key) this.pages.clear();
    this.key = key;
    this.size = begin;
    this.exact = mine.every((file) => file.exact || file.status === "failed");
  }

  at(index) {
    return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  place(file, row) {
    const part = this.parts.find((one) => one.file === file);
    return part && row < part.end - part.begin ? part.begin + row : -1;
  }

  // The file and row of a place, known without asking.
  address(index) {
    const part = this.parts.find((one) => index >= one.begin && index < one.end);
    return part ? { file: part.file, row: index - part.begin } : null;
  }

  reload(parameters) {
    Object.assign(this.parameters, parameters);
    this.pages.clear();
    this.changed();
  }

  want(first, last) {
    this.wanted = [first, last];
    clearTimeout(this.timer);
    // While someone drags the scrollbar, most places are passed and never asked for.
    this.timer = setTimeout(() => this.#ask(), 40);
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    for (const one of this.asked.values()) one.abort();
  }

  #ask() {
    const [first, last] = this.wanted;
    const pages = [];
    for (let page = Math.floor(first / PAGE); page * PAGE < Math.min(last, this.size); page += 1) pages.push(page);
    for (const [page, request] of this.asked) if (!pages.includes(page)) request.abort();
    for (const page of pages) {
      if (this.asked.size >= PARALLEL) return;
      if (!this.asked.has(page) && !this.#whole(page)) this.#fetch(page);
    }
  }

  #whole(page) {
    const rows = this.pages.get(page);
    if (!rows) return false;
    const wanted = Math.min(PAGE, this.size - page * PAGE);
    for (let at = 0; at < wanted; at += 1) if (!rows[at]) return false;
    return true;
  }

  async #fetch(page) {
    const request = new AbortController();
    this.asked.set(page, request);
    try {
      await this.#fill(page, request.signal);
      this.error = null;
    } catch (error) {
      if (error.name !== "AbortError") this.error = error.message;
    }
    this.asked.delete(page);
    if (this.closed) return;
    this.changed();
    if (!this.error) this.#ask();
  }

  // Answers may hold fewer rows than asked for: large records come a few at a time.
  async #fill(page, signal) {
    const rows = this.pages.get(page) ?? new Array(PAGE);
    this.pages.delete(page);
    this.pages.set(page, rows);
    while (this.pages.size > KEPT) this.pages.delete(this.pages.keys().next().value);
    let at = 0;
    while (at < PAGE && page * PAGE + at < this.size) {
      if (rows[at]) {
        at += 1;
        continue;
      }
      const from = this.address(page * PAGE + at);
      const part = this.parts.find((one) => one.file === from.file);
      const limit = Math.min(PAGE - at, part.end - part.begin - from.row);
      const answer = await ask("api/rows", { ...this.parameters, scope: from.file, row: from.row, limit }, signal);
      if (!answer.rows.length) {
        if (!answer.pending) throw new Error("The server has no rows here any more. Has the file changed?");
        await pause(300);
      }
      if (this.pages.get(page) !== rows) return; // the table has become another one
      for (const row of answer.rows) rows[at++] = row;
      this.changed();
    }
  }
}

export class FoundRows {
  constructor(scope, parameters, changed) {
    Object.assign(this, { scope, parameters, changed, error: null, rows: [], searched: 0, next: "", exact: false, stopped: false });
    this.filtered = true;
    this.target = EAGER;
    this.request = new AbortController();
  }

  get size() {
    return this.rows.length;
  }

  get running() {
    return Boolean(this.busy);
  }

  update() {}

  at(index) {
    return this.rows[index];
  }

  address(index) {
    return this.rows[index] ?? null;
  }

  place(file, row) {
    return this.rows.findIndex((one) => one.file === file && one.row === row);
  }

  // Found anew from the beginning.
  reload(parameters) {
    Object.assign(this.parameters, parameters);
    this.request.abort();
    Object.assign(this, { request: new AbortController(), rows: [], searched: 0, next: "", exact: false, busy: false });
    this.changed();
  }

  want(first, last) {
    this.target = Math.max(this.target, last + 2 * PAGE);
    if (this.size < this.target && !this.busy && !this.stopped && !this.exact && !this.error) this.#search();
  }

  stop() {
    this.stopped = true;
    this.changed();
  }

  goOn() {
    this.stopped = false;
    this.error = null;
    this.target = Math.max(this.target, this.size + EAGER);
    if (!this.busy) this.#search();
  }

  close() {
    this.closed = true;
    this.request.abort();
  }

  async #search() {
    this.busy = true;
    try {
      while (!this.stopped && !this.exact && this.rows.length < this.target) {
        const parameters = { ...this.parameters, scope: this.scope, cursor: this.next, limit: this.size ? MOST : PAGE };
        const answer = await ask("api/rows", parameters, this.request.signal);
        this.rows.push(...answer.rows);
        this.searched += answer.searched?.records ?? 0;
        if (answer.pending) await pause(300);
        if (answer.next === null && !answer.pending) this.exact = true;
        else this.next = answer.next ?? this.next;
        this.changed();
      }
    } catch (error) {
      if (error.name !== "AbortError") this.error = error.message;
    }
    this.busy = false;
    if (!this.closed) this.changed();
  }
}
