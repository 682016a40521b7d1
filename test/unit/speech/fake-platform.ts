import { ManualClock } from '../../support/manual-clock.ts';
import { TokenSource, type TokenSourceOptions } from '../../../src/speech/client/tokens.ts';

/** Lets everything that waits for no timer run: a few turns of the event loop, in which streams of answers are read. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise<void>((resolve) => void setImmediate(resolve));
}

export interface Asked {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
  readonly signal: AbortSignal | undefined;
  readonly redirect: RequestInit['redirect'];
}

export type Answer = Response | Error | Promise<Response>;

/** A `fetch` that answers from a script, the last answer for ever, and keeps what was asked. */
export class FakeFetch {
  readonly asked: Asked[] = [];
  readonly #script: ((asked: Asked) => Answer)[];

  constructor(...script: ((asked: Asked) => Answer)[]) {
    this.#script = script;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    init?.signal?.throwIfAborted();
    const asked: Asked = {
      url: input instanceof URL ? input : new URL(input instanceof Request ? input.url : input),
      method: init?.method ?? 'GET',
      headers: new Headers(init?.headers),
      body: init?.body,
      signal: init?.signal ?? undefined,
      redirect: init?.redirect,
    };
    this.asked.push(asked);
    const answer = (this.#script.length > 1 ? this.#script.shift() : this.#script[0])?.(asked);
    if (answer === undefined) throw new TypeError('nothing is scripted');
    if (answer instanceof Error) throw answer;
    const { signal } = init ?? {};
    if (!(answer instanceof Promise) || signal === undefined || signal === null) return answer;
    const aborted = new Promise<never>((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
    );
    return Promise.race([answer, aborted]);
  };
}

/** Lets what has begun go on until it waits for the clock, and so much time pass. */
export async function pass(clock: ManualClock, ms: number): Promise<void> {
  await settle();
  clock.advance(ms);
  await settle();
}

/** What a promise fails with. @throws when it does not */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not fail');
}

export const API_KEY = 'key-5ecret-of-the-account';
export const AUTH_URL = 'https://auth.example';

let minted = 0;

/** A mint's answer with a token of its own. */
export function minting(body: Record<string, unknown> = { expires_in: 900 }): () => Response {
  return () => Response.json({ token: `token-${(minted += 1)}.made`, ...body });
}

export function refusing(status: number, detail = 'no', headers: Record<string, string> = {}): () => Response {
  return () => Response.json({ detail }, { status, headers });
}

export function tokensOn(
  fake: FakeFetch,
  options: Partial<TokenSourceOptions> = {},
): { readonly tokens: TokenSource; readonly clock: ManualClock } {
  const clock = new ManualClock();
  const base = { authUrl: AUTH_URL, apiKey: API_KEY, clock, fetch: fake.fetch, random: () => 0 };
  return { tokens: new TokenSource({ ...base, ...options }), clock };
}
