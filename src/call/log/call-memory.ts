/** The dialog's variables and notes: as set, and as the record may show them. */
export class CallMemory {
  readonly #hide: (text: string) => string;
  #variables: Readonly<Record<string, string>> = {};
  readonly #kept = new Map<string, string>();
  readonly #notes: string[] = [];
  #changes = 0;

  /** @param hide removes values that must not be kept */
  constructor(hide: (text: string) => string) {
    this.#hide = hide;
  }

  get variables(): Readonly<Record<string, string>> {
    return this.#variables;
  }

  /** Rises with each variable that changes in the record. */
  get changes(): number {
    return this.#changes;
  }

  set(variables: Readonly<Record<string, string>>): void {
    this.#variables = { ...this.#variables, ...variables };
    for (const [name, value] of Object.entries(variables)) {
      const [shownName, shownValue] = [this.#hide(name), this.#hide(value)];
      if ((this.#kept.get(shownName) ?? '') === shownValue) continue;
      this.#changes += 1;
      if (shownValue === '') this.#kept.delete(shownName);
      else this.#kept.set(shownName, shownValue);
    }
  }

  /** Takes over the state from before a crash. */
  goOn(variables: Readonly<Record<string, string>>, notes: readonly string[]): void {
    this.set(variables);
    this.#notes.push(...notes);
  }

  /** A text as the record may show it. */
  shown(text: string): string {
    return this.#hide(text);
  }

  note(text: string): void {
    this.#notes.push(this.#hide(text));
  }

  /** For the record: without empty variables and secret values. */
  get record(): { readonly variables: Readonly<Record<string, string>>; readonly notes: readonly string[] } {
    return { variables: Object.fromEntries(this.#kept), notes: [...this.#notes] };
  }
}
