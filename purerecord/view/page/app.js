// The page as a whole: it knows where the page is, keeps what has been asked, and shows one view at a time.
//
// The reading order: element, formats, requests, route -> rows, scroller, clauses -> head, value, chart, overlay, hex
// -> table, gallery, record, episode, damage, files, filter -> this file.

import { toggled } from "./clauses.js";
import { DamageView } from "./damage.js";
import { button, element, replace } from "./element.js";
import { EpisodeView } from "./episode.js";
import { FileList } from "./files.js";
import { FilterBar } from "./filter.js";
import { count, line, plural, size } from "./formats.js";
import { GalleryView } from "./gallery.js";
import { RecordView } from "./record.js";
import { ask, pause } from "./requests.js";
import { link, read } from "./route.js";
import { AllRows, FoundRows } from "./rows.js";
import { TableView } from "./table.js";

const VIEWS = { table: TableView, gallery: GalleryView, record: RecordView, episode: EpisodeView, damage: DamageView };
const LISTS = new Set(["table", "gallery"]);
const OFTEN = 500;
const SELDOM = 3000;
const $ = (id) => document.getElementById(id);

class App {
  constructor() {
    Object.assign(this, { files: null, summary: null, rows: null, view: null, key: null, tops: new Map(), damages: new Map() });
    this.place = read();
    this.list = LISTS.has(this.place.view) ? this.place : { ...this.place, view: "table", at: 0 };
    this.filter = new FilterBar($("filter"), (filter) => this.go({ ...this.list, ...filter, at: 0 }));
    this.fileList = new FileList($("files"), (scope) => this.go({ ...this.list, scope, at: 0 }));
    addEventListener("hashchange", () => this.arrive());
    document.addEventListener("keydown", (event) => this.pressed(event));
    prepareTheme();
    prepareFiles();
    prepareHelp();
  }

  async start() {
    try {
      this.files = await allFiles();
    } catch (error) {
      replace($("main"), element("p", { class: "empty wrong" }, error.message));
      return;
    }
    this.filesChanged();
    this.arrive();
    this.followFiles();
  }

  // --- where the page is ---

  go(place) {
    const hash = link({ view: place.view, scope: place.scope, where: place.where, text: place.text, at: place.at });
    if (hash === location.hash) this.arrive();
    else location.hash = hash;
  }

  arrive() {
    this.place = read();
    this.view?.close();
    if (LISTS.has(this.place.view)) {
      this.list = this.place;
      this.takeRows();
    } else if (this.place.row !== null) this.list.at = this.placeInList();
    this.filter.show(this.list);
    this.filesChanged();
    if (this.scope !== this.list.scope) this.followSummary(this.list.scope);
    this.view = new VIEWS[this.place.view]($("main"), this);
    $("main").className = `main-${this.place.view}`;
    this.drawViews();
    this.tell();
  }

  // Where the record that is looked at is in the list: there one comes back to.
  placeInList() {
    const { file, row } = this.place;
    const { scope, where, text } = this.list;
    if (this.rows) return Math.max(0, this.rows.place(file, row));
    if (where || text || scope !== "all") return where || text ? 0 : row;
    return this.files.files.filter((one) => one.file < file).reduce((sum, one) => sum + one.records, row);
  }

  // The rows of the list, kept while a record is looked at.
  takeRows() {
    const { view, scope, where, text } = this.place;
    const key = JSON.stringify([view, scope, where, text]);
    if (key === this.key && this.rows) return;
    this.rows?.close();
    this.key = key;
    const changed = () => {
      if (LISTS.has(this.place.view)) this.view?.rowsChanged();
      this.tell();
    };
    const parameters = VIEWS[view].parameters(this.summary);
    this.rows = where || text ? new FoundRows(scope, { ...parameters, where, text }, changed) : new AllRows(scope, parameters, this.files.files, changed);
  }

  // The same rows with other features.
  reload(parameters) {
    this.rows.reload(parameters);
  }

  filterOf() {
    const { scope, where, text } = this.list;
    return { scope, where, text };
  }

  backLink() {
    return link({ view: this.list.view, ...this.filterOf(), at: this.list.at });
  }

  recordLink(place) {
    return link({ view: "record", file: place.file, row: place.row, ...this.filterOf() });
  }

  openRecord(address, index) {
    this.remember(index);
    location.hash = this.recordLink(address);
  }

  // The place in the list, for coming back; the address follows without a new step in the history.
  remember(index) {
    this.list.at = index;
    clearTimeout(this.remembering);
    this.remembering = setTimeout(() => {
      if (LISTS.has(this.place.view)) history.replaceState(null, "", this.backLink());
    }, 300);
  }

  pick(clause, others) {
    this.go({ ...this.list, where: toggled(this.list.where, clause, others), at: 0 });
  }

  // The record after or before one: in what is found, if it is of it; else in the files.
  neighbour(record, forth) {
    if (this.rows?.filtered) {
      const at = this.rows.place(record.file, record.row);
      if (at >= 0) {
        const next = at + (forth ? 1 : -1);
        this.rows.want(next, next + 1);
        return next >= 0 ? this.rows.address(next) : null;
      }
    }
    const row = forth ? record.next : record.previous;
    const files = this.files.files;
    const mine = files.findIndex((file) => file.file === record.file);
    if (row !== null && row !== undefined && row < (files[mine]?.records ?? Infinity)) return { file: record.file, row };
    const other = forth ? files.slice(mine + 1).find((file) => file.records) : files.slice(0, Math.max(0, mine)).reverse().find((file) => file.records);
    return other ? { file: other.file, row: forth ? 0 : other.records - 1 } : null;
  }

  nameOf(file) {
    return line(this.files.files.find((one) => one.file === file)?.short ?? "");
  }

  damageBefore(file, row) {
    const found = this.fileList.damage.get(file);
    if (!Array.isArray(found?.damages)) return null;
    if (this.damages.get(file)?.found !== found) {
      const rows = new Map();
      for (const damage of found.damages) if (damage.row !== null && damage.row !== undefined && !rows.has(damage.row)) rows.set(damage.row, damage);
      this.damages.set(file, { found, rows });
    }
    return this.damages.get(file).rows.get(row) ?? null;
  }

  // --- what the server finds out while the page is open ---

  async followFiles() {
    for (;;) {
      const { busy, files } = this.files;
      if (!busy && files.every((file) => file.status === "done" || file.status === "failed")) return;
      await pause(busy ? OFTEN : SELDOM);
      const before = JSON.stringify(this.files);
      this.files = await allFiles().catch(() => this.files);
      if (JSON.stringify(this.files) === before) continue;
      if (this.files.totals.exact && this.summary && !this.summary.exact && !this.summary.running) this.askSummary();
      this.rows?.update(this.files.files);
      this.filesChanged();
      if (LISTS.has(this.place.view)) this.view?.rowsChanged();
      this.tell();
    }
  }

  filesChanged() {
    const { title, totals, files } = this.files;
    $("title").textContent = line(title);
    document.title = `${line(title)} · purerecord`;
    const parts = [files.length > 1 ? plural(files.length, "file") : null, `${count(totals.records)}${totals.exact ? "" : "+"} ${totals.records === 1 ? "record" : "records"}`, size(totals.size)];
    replace($("totals"), parts.filter(Boolean).join(" · "), totals.damages ? element("span", { class: "wrong" }, ` · ${plural(totals.damages, "damaged place")}`) : null);
    this.fileList.update(this.files, this.list);
  }

  // Once more, as all records are counted by now: then it is known of how many it tells.
  async askSummary() {
    const turn = this.turn;
    const answer = await ask("api/summary", { scope: this.scope }).catch(() => null);
    if (!answer || turn !== this.turn || this.summary.of !== null) return;
    this.summary = answer;
    this.tell();
  }

  async followSummary(scope, more = 0) {
    this.scope = scope;
    const turn = (this.turn = (this.turn ?? 0) + 1);
    this.summary = null;
    for (;;) {
      let answer;
      try {
        answer = await ask("api/summary", { scope: scope, more: more || null });
      } catch (error) {
        if (turn === this.turn) this.summary = { columns: [], error: error.message };
        return this.tell();
      }
      if (turn !== this.turn) return undefined;
      if (JSON.stringify(answer) !== JSON.stringify(this.summary)) {
        this.summary = answer;
        this.view?.summaryChanged();
        this.drawViews();
        this.tell();
      }
      if (!answer.running) return undefined;
      await pause(OFTEN);
    }
  }

  // --- what is drawn around the view ---

  drawViews() {
    const columns = this.summary?.columns ?? [];
    const tabs = [["table", "Table", "t"]];
    if (columns.some((column) => column.role === "picture") || this.place.view === "gallery") tabs.push(["gallery", "Gallery", "g"]);
    if (this.episodes || this.place.view === "episode") tabs.push(["episode", "Episodes", "e"]);
    const now = LISTS.has(this.place.view) || this.place.view === "episode" ? this.place.view : this.list.view;
    replace($("views"), tabs.map(([view, name, key]) => element("a", {
      class: "view", href: this.viewLink(view), title: `${name} (${key})`, id: `view-${view}`, "aria-current": now === view ? "page" : null,
    }, name)));
  }

  get episodes() {
    return Boolean(this.summary?.episodes) || this.summary?.kind === "SequenceExample";
  }

  viewLink(view) {
    if (view !== "episode") return link({ view, ...this.filterOf() });
    const first = this.files.files.find((file) => file.records && (this.list.scope === "all" || file.file === this.list.scope));
    return link({ view, file: first?.file ?? 0, row: 0, ...this.filterOf() });
  }

  tell() {
    this.filter.tell(this.rows, this.files?.totals);
    const summary = this.summary;
    if (!summary) return replace($("status"), "Looking at the features …");
    if (summary.error) return replace($("status"), element("span", { class: "wrong" }, summary.error));
    const undecodable = summary.undecodable ? ` ${plural(summary.undecodable, "record")} ${summary.undecodable === 1 ? "is" : "are"} no Example.` : "";
    return replace($("status"),
      summary.columns.length ? ["Column heads: ", summary.note || (summary.exact ? `all ${plural(summary.records, "record")}` : plural(summary.records, "record")), this.list.where || this.list.text ? ", without the filter." : ".", undecodable] : undecodable,
      summary.running ? " Counting …" : null,
      !summary.exact && !summary.running && summary.columns.length ? [" ", button("Count all of them", () => this.followSummary(this.scope, 1), { class: "link", id: "exact" })] : null);
  }

  // --- keys ---

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    const target = event.target;
    if (target.matches("input:not([type=range]), textarea, select, audio")) return;
    const arrows = event.key.startsWith("Arrow");
    if (target.matches("input[type=range]") && arrows) return;
    if (target.matches(".hex") && (arrows || event.key.startsWith("Page") || event.key === " ")) return;
    if (target.matches("button, a, summary") && (event.key === "Enter" || event.key === " ")) return;
    if (this.view?.key(event) || this.everywhere(event)) event.preventDefault();
  }

  everywhere(event) {
    const run = {
      "/": () => $("text").focus(),
      f: () => $("where").focus(),
      t: () => (location.hash = this.viewLink("table")),
      g: () => (location.hash = this.viewLink("gallery")),
      e: () => this.episodes && (location.hash = this.viewLink("episode")),
      d: () => $("theme").click(),
      "?": () => $("help").showModal(),
      Escape: () => (this.list.where || this.list.text) && this.go({ ...this.list, where: "", text: "", at: 0 }),
    }[event.key];
    run?.();
    return Boolean(run);
  }
}

async function allFiles() {
  const answer = await ask("api/files", {});
  while (answer.files.length < answer.of) {
    const next = await ask("api/files", { from: answer.files.length });
    if (!next.files.length) break;
    answer.files.push(...next.files);
  }
  return answer;
}

function prepareTheme() {
  const themes = ["auto", "light", "dark"];
  const kept = (() => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  })();
  let now = themes.includes(kept) ? kept : "auto";
  const apply = () => {
    document.documentElement.dataset.theme = now;
    $("theme").textContent = { auto: "◐ Auto", light: "○ Light", dark: "● Dark" }[now];
    $("theme").setAttribute("aria-label", `Colours: ${now}`);
  };
  $("theme").addEventListener("click", () => {
    now = themes[(themes.indexOf(now) + 1) % themes.length];
    apply();
    try {
      localStorage.setItem("theme", now);
    } catch {
      // Where nothing can be kept, the choice holds for this page.
    }
  });
  apply();
}

function prepareFiles() {
  const show = (open) => {
    document.body.classList.toggle("files-hidden", !open);
    $("files-toggle").setAttribute("aria-expanded", String(open));
  };
  show(!matchMedia("(max-width: 800px)").matches);
  $("files-toggle").addEventListener("click", () => show(document.body.classList.contains("files-hidden")));
}

function prepareHelp() {
  const keys = [
    ["j  k  or  ↓  ↑", "next and previous record"], ["Enter", "open the record"], ["Escape", "back; in the list: clear the filter"],
    ["/", "search for text"], ["f", "filter by an expression"], ["t  g  e", "table, gallery, episodes"], ["Home  End", "first and last record"],
    ["b  l  m", "boxes, names, masks on or off"], ["←  →  Space", "step through an episode, play it"], ["d", "light or dark"], ["?", "this list"],
  ];
  const help = $("help");
  replace(help,
    element("h2", {}, "Keys"),
    element("table", {}, element("tbody", {}, keys.map(([key, what]) => element("tr", {}, element("td", {}, key.split("  ").map((one) => (one === "or" ? " or " : element("kbd", {}, one)))), element("td", {}, what))))),
    element("p", { class: "muted" }, "A click on a bar or a value in a column head filters by it; a second click takes it away. The address of the page is a permanent link to what it shows."),
    button("Close", () => help.close(), { class: "plain button" }));
  $("help-open").addEventListener("click", () => help.showModal());
}

new App().start();
