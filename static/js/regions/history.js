// Undo and redo: every state that was, one step at a time.

export class History {
  #past = [];
  #future = [];
  #now;

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

  change(next) {
    this.#past.push(this.#now);
    this.#future = [];
    this.#now = next;
  }

  undo() {
    if (!this.canUndo) return;
    this.#future.push(this.#now);
    this.#now = this.#past.pop();
  }

  redo() {
    if (!this.canRedo) return;
    this.#past.push(this.#now);
    this.#now = this.#future.pop();
  }
}
