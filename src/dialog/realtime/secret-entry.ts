import { isSecure } from '../../language/index.ts';
import type { DialogAction, DialogTurn } from '../port.ts';
import type { AskedKeys } from './functions.ts';

/** Attempts at a secret value; then the model has the floor again. */
const MOST_ATTEMPTS = 3;

/** What is done with a turn while a secret value is asked for: answered by the call itself, or told to the model in words without the value. */
export type SecretStep =
  | { readonly kind: 'ask-again'; readonly actions: readonly DialogAction[] }
  | { readonly kind: 'over'; readonly told: string; readonly actions: readonly DialogAction[] };

/** The entry of a card number or a one-time password: until the vault has it, the model neither hears the caller nor speaks. */
export class SecretEntry {
  #asked: AskedKeys | undefined;
  #attempts = 0;
  /** The turn in which the value was asked for: it may be asked again. */
  #sinceIndex = 0;

  /** @param keys what the model asked for; nothing secret ends an entry */
  begin(keys: AskedKeys, index: number): void {
    this.#asked = isSecure(keys.contract) ? keys : undefined;
    this.#attempts = 0;
    this.#sinceIndex = index;
  }

  /** @returns undefined where no secret is asked for */
  step({ input, index }: DialogTurn): SecretStep | undefined {
    const asked = this.#asked;
    if (asked === undefined) return undefined;
    // The turn that led to the question is answered anew.
    if (index <= this.#sinceIndex || input.kind === 'transfer' || input.kind === 'start') {
      this.#asked = undefined;
      return undefined;
    }
    const { kind } = asked.contract;
    const name = kind === 'card' ? 'card number' : 'one-time password';
    if (input.kind === 'keyed' && input.answer?.status === 'complete') {
      this.#asked = undefined;
      // A token of the vault, which only the bot's own tools get.
      const kept: DialogAction = { type: 'set', variables: { [kind]: input.answer.value } };
      return {
        kind: 'over',
        told: `(The caller has entered the ${name}. It is kept safe, and not shown to you.)`,
        actions: [kept],
      };
    }
    this.#attempts += 1;
    if (this.#attempts < MOST_ATTEMPTS) {
      const again: DialogAction[] = [
        { type: 'say', text: asked.sayAgain },
        { type: 'gather', contract: asked.contract },
      ];
      return { kind: 'ask-again', actions: again };
    }
    this.#asked = undefined;
    return { kind: 'over', told: `(The caller did not enter the ${name}.)`, actions: [] };
  }
}
