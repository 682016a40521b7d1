/** Things of a call by the turn they belong to: a call of many turns asks about each of them again and again. */
export class TurnIndex<Thing> {
  readonly #turns = new Map<number, Thing[]>();

  add(turn: number, thing: Thing): void {
    const same = this.#turns.get(turn);
    if (same === undefined) this.#turns.set(turn, [thing]);
    else same.push(thing);
  }

  /** Those of one turn, oldest first. */
  of(turn: number): readonly Thing[] {
    return this.#turns.get(turn) ?? [];
  }
}
