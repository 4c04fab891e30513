// Scrolling through any number of rows of one height with few elements. Browsers limit how tall an element can be
// (about 17 to 33 million pixels); beyond that, the scrollbar stands for more pixels than it has: small moves
// stay exact to the pixel, large ones go to the place in proportion. This file does not know what is in a row.

const TALLEST = 8_000_000;

export class Scroller {
  // `box` scrolls, `space` is as tall as all rows, `show(first, last)` is called when other rows are to be seen.
  constructor(box, space, rowHeight, show) {
    Object.assign(this, { box, space, rowHeight, show, rows: 0, above: 0, offset: 0, last: 0, waiting: false });
    box.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    new ResizeObserver(() => this.#later()).observe(box);
  }

  // Pixels of the box that show rows; `above` are those of a header that stays.
  get height() {
    return Math.max(this.rowHeight, this.box.clientHeight - this.above);
  }

  get full() {
    return this.rows * this.rowHeight;
  }

  get drawn() {
    return Math.min(this.full, TALLEST);
  }

  // Where the first visible pixel is, among the pixels of all rows.
  get top() {
    return Math.max(0, Math.min(this.box.scrollTop + this.offset, this.full - this.height));
  }

  resize(rows) {
    const top = this.rows ? this.top : 0;
    this.rows = rows;
    this.space.style.setProperty("height", `${this.drawn}px`);
    this.goTo(Math.min(top, Math.max(0, this.full - this.height)));
  }

  goTo(top) {
    const free = Math.max(1, this.drawn - this.height);
    const scroll = this.full > this.drawn ? Math.round((top / Math.max(1, this.full - this.height)) * free) : top;
    this.box.scrollTop = scroll;
    this.last = this.box.scrollTop;
    this.offset = this.full > this.drawn ? top - this.last : 0;
    this.#later();
  }

  // Scroll as little as needed for a row to be seen.
  reveal(row) {
    const begin = row * this.rowHeight;
    if (begin < this.top) this.goTo(begin);
    else if (begin + this.rowHeight > this.top + this.height) this.goTo(begin + this.rowHeight - this.height);
  }

  // Where a row is drawn within `space`.
  place(row) {
    return row * this.rowHeight - this.offset;
  }

  #scrolled() {
    const scroll = this.box.scrollTop;
    if (this.full > this.drawn) {
      const free = this.drawn - this.height;
      const edge = scroll <= 0 || scroll >= free;
      if (Math.abs(scroll - this.last) > this.height * 2 || edge) {
        const top = (Math.min(scroll, free) / free) * (this.full - this.height);
        const near = this.last + this.offset + (scroll - this.last);
        // At the edge of the scrollbar after small moves, rows may be left beyond it.
        if (edge && Math.abs(scroll - this.last) <= this.height * 2 && Math.abs(near - top) > this.rowHeight) {
          this.goTo(near);
          return;
        }
        this.offset = top - scroll;
      }
    }
    this.last = scroll;
    this.#later();
  }

  #later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const first = Math.floor(this.top / this.rowHeight);
      this.show(first, Math.min(this.rows, first + Math.ceil(this.height / this.rowHeight) + 1));
    });
  }
}
