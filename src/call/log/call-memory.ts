/** What the dialog has a call remember: variables and notes, as the dialog sees them and as the record may show them. */
export class CallMemory {
  readonly #hide: (text: string) => string;
  #variables: Readonly<Record<string, string>> = {};
  readonly #kept = new Map<string, string>();
  readonly #notes: string[] = [];

  /** @param hide takes out what nothing may keep */
  constructor(hide: (text: string) => string) {
    this.#hide = hide;
  }

  /** As the dialog set them. */
  get variables(): Readonly<Record<string, string>> {
    return this.#variables;
  }

  set(variables: Readonly<Record<string, string>>): void {
    this.#variables = { ...this.#variables, ...variables };
    for (const [name, value] of Object.entries(variables)) {
      if (value === '') this.#kept.delete(this.#hide(name));
      else this.#kept.set(this.#hide(name), this.#hide(value));
    }
  }

  /** A text as the record may show it. */
  shown(text: string): string {
    return this.#hide(text);
  }

  note(text: string): void {
    this.#notes.push(this.#hide(text));
  }

  /** For the record: without empty variables, and without what nothing may keep. */
  get record(): { readonly variables: Readonly<Record<string, string>>; readonly notes: readonly string[] } {
    return { variables: Object.fromEntries(this.#kept), notes: [...this.#notes] };
  }
}
