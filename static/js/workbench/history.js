// Undo and redo: every draft that was, one step at a time. What is typed into one field in one go is
// one step.

export class History {
  #past = [];
  #future = [];
  #now;
  #typedIn = null; // the field in which the last change was typed

  constructor(now) {
    this.#now = now;
  }

  get now() {
    return this.#now;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /** `field` is the one in which it was typed, if it was. */
  change(next, field = null) {
    if (!field || field !== this.#typedIn) this.#past.push(this.#now);
    this.#typedIn = field;
    this.#future = [];
    this.#now = next;
  }

  undo() {
    if (!this.canUndo) return;
    this.#typedIn = null;
    this.#future.push(this.#now);
    this.#now = this.#past.pop();
  }

  redo() {
    if (!this.canRedo) return;
    this.#past.push(this.#now);
    this.#now = this.#future.pop();
  }
}
