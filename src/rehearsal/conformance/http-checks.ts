import type { Secret } from '../../config/secrets.ts';
import { readAnswer } from '../../dialog/http-hook.ts';
import type { DialogAction, DialogTurn } from '../../dialog/port.ts';
import { systemClock } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import { traceHeaders } from '../../observability/trace-context.ts';
import { allPass, type Check, type Finding, PASSED } from './check.ts';
import { CUT_HISTORY, laterTurns, sampleCall, sampleTurn } from './sample-turns.ts';
import { signature, signatureChecks, type Signing } from './signing.ts';

/** The server of an `http` bot that is checked. */
export interface CheckedServer {
  readonly url: string;
  /** Signs the requests; unsigned without it. */
  readonly secret: Secret | undefined;
  /** Longest silence of the server. */
  readonly timeoutMs: number;
}

interface Answer {
  readonly actions: readonly DialogAction[];
  readonly tookMs: number;
}

/** A caller is told to wait after this long. */
const SOON_MS = 1_500;
const CALLS_AT_ONCE = 10;
const SLOW_READER_MS = 150;
const MOST_SLOW_READS = 40;

/** Everything that a gateway can send to the server of an `http` bot, and what the server has to do (docs/dialog-hooks.md, "http"). */
export function httpChecks(server: CheckedServer): readonly Check[] {
  const probe = new HttpProbe(server);
  return [
    {
      name: 'greeting',
      rule: 'the first turn is answered with 2xx and actions, soon enough for a caller',
      run: async () => {
        const { actions, tookMs } = await probe.ask(sampleTurn(sampleCall(), 0, { kind: 'start' }));
        if (!actions.some(isAudible)) return { is: 'warned', got: 'the caller hears nothing when the call is answered' };
        if (tookMs > SOON_MS)
          return { is: 'warned', got: `the greeting took ${tookMs} ms; a caller is told to wait after ${SOON_MS} ms` };
        return PASSED;
      },
    },
    ...laterTurns().map(({ name, input, more }): Check => ({
      name: `turn: ${name}`,
      rule: 'a turn of every kind is answered with 2xx and actions',
      run: async () => {
        const call = sampleCall();
        await probe.ask(sampleTurn(call, 0, { kind: 'start' }));
        const { actions } = await probe.ask(sampleTurn(call, 1, input, more));
        return actions.some(isAudible) || actions.some(isSilent) ? PASSED : { is: 'warned', got: 'the caller hears silence' };
      },
    })),
    ...callChecks(probe),
    ...repeatChecks(probe),
    ...robustnessChecks(probe),
    ...signatureChecks(server, 'request', 'anybody who knows the address can talk to the bot', async (signing) => {
      const { status, body } = await probe.post(sampleTurn(sampleCall(), 0, { kind: 'start' }), { signing });
      await body?.cancel();
      return status;
    }),
  ];
}

function isAudible({ type }: DialogAction): boolean {
  return type === 'say' || type === 'play';
}

/** After these the caller does not wait for words. */
function isSilent({ type }: DialogAction): boolean {
  return type === 'hangup' || type === 'transfer' || type === 'bot' || type === 'digits';
}

function callChecks(probe: HttpProbe): Check[] {
  const outbound = sampleCall({ direction: 'outbound', from: '+15550100002', to: '+15550100001' });
  return [
    {
      name: 'an outbound call',
      rule: 'a call that Offhook places greets the person, or leaves a message at a mailbox',
      run: () =>
        allPass([
          () => probe.passes(sampleTurn(outbound, 0, { kind: 'start', heard: 'hello' }, { variables: { name: 'Asha' } })),
          () => probe.passes(sampleTurn(sampleCall({ ...outbound, answeredBy: 'mailbox' }), 0, { kind: 'start' })),
          () =>
            probe.passes(
              sampleTurn(outbound, 1, {
                kind: 'spoken',
                text: 'call me tomorrow',
                language: 'en',
                callBack: { atMs: 1_800_000_000_000, said: 'tomorrow' },
              }),
            ),
        ]),
    },
    {
      name: 'another language',
      rule: 'words of any script are read as UTF-8',
      run: () =>
        probe.passes(
          sampleTurn(sampleCall({ language: 'hi' }), 1, { kind: 'spoken', text: 'मंगलवार को साढ़े दस बजे 🙂', language: 'hi' }),
        ),
    },
    {
      name: 'a cut history',
      rule: 'the history holds what the caller heard; a half-heard word ends in a dash',
      run: () =>
        probe.passes(sampleTurn(sampleCall(), 2, { kind: 'spoken', text: 'wait', language: 'en' }, { history: CUT_HISTORY })),
    },
    {
      name: 'a long call',
      rule: 'a history of 400 entries and a text of 5,000 characters are taken',
      run: () => {
        const history = Array.from({ length: 100 }, () => CUT_HISTORY).flat();
        return probe.passes(
          sampleTurn(sampleCall(), 200, { kind: 'spoken', text: 'and '.repeat(1250), language: 'en' }, { history }),
        );
      },
    },
    {
      name: 'an unknown call',
      rule: 'a later turn of a call whose greeting another server answered is answered too',
      run: () =>
        probe.passes(sampleTurn(sampleCall(), 5, { kind: 'spoken', text: 'hello', language: 'en' }, { history: CUT_HISTORY })),
    },
  ];
}

function repeatChecks(probe: HttpProbe): Check[] {
  return [
    {
      name: 'a repeat',
      rule: 'the same idempotency-key is the same turn: answered again, and its effects happen once',
      run: async () => {
        const turn = sampleTurn(sampleCall(), 1, { kind: 'spoken', text: 'book it', language: 'en' });
        const [first, second] = [await probe.ask(turn), await probe.ask({ ...turn, again: true })];
        if (JSON.stringify(first.actions) === JSON.stringify(second.actions)) return PASSED;
        return { is: 'warned', got: 'the repeat was answered otherwise: make sure that what the first did is not done twice' };
      },
    },
    {
      name: 'an early turn',
      rule: 'an early turn is answered as any other, without effects: it may be dropped and asked again',
      run: async () => {
        const call = sampleCall();
        const words = (text: string) => ({ kind: 'spoken', text, language: 'en' }) as const;
        return allPass([
          () => probe.passes(sampleTurn(call, 1, words('I would'), { early: true, idempotencyKey: `${call.callId}.1.early` })),
          () => probe.passes(sampleTurn(call, 1, words('I would like tea'))),
        ]);
      },
    },
    {
      name: 'a resumed turn',
      rule: 'a turn that is asked again after a crash is answered; whether the first had effects is unknown',
      run: () =>
        probe.passes(
          sampleTurn(
            sampleCall(),
            1,
            { kind: 'spoken', text: 'book it', language: 'en' },
            { resumed: { gapMs: 900, outcome: 'unknown' } },
          ),
        ),
    },
  ];
}

function robustnessChecks(probe: HttpProbe): Check[] {
  const words = { kind: 'spoken', text: 'hello', language: 'en' } as const;
  return [
    {
      name: 'unknown fields',
      rule: 'fields that the server does not know are ignored: new ones come with new versions',
      run: async () => {
        const turn = sampleTurn(sampleCall(), 1, words);
        const future = { ...turn, call: { ...turn.call, future: 1 }, input: { ...words, future: { a: [1] } }, future: 'x' };
        return probe.passes(future);
      },
    },
    {
      name: 'an aborted request',
      rule: 'a request that is broken off, as when the caller goes on speaking, disturbs no later one',
      run: async () => {
        const call = sampleCall();
        await probe.abort(sampleTurn(call, 1, words));
        return probe.passes(sampleTurn(call, 1, { ...words, text: 'hello again' }));
      },
    },
    {
      name: 'a slow reader',
      rule: 'an answer that is read slowly, as it is spoken, arrives whole',
      run: async () => {
        await probe.ask(sampleTurn(sampleCall(), 1, words), { readEveryMs: SLOW_READER_MS });
        return PASSED;
      },
    },
    {
      name: 'calls at the same time',
      rule: `${CALLS_AT_ONCE} calls at once are all answered`,
      run: async () => {
        const turns = Array.from({ length: CALLS_AT_ONCE }, () => sampleTurn(sampleCall(), 0, { kind: 'start' }));
        await Promise.all(turns.map((turn) => probe.ask(turn)));
        return PASSED;
      },
    },
    {
      name: 'the question whether it is up',
      rule: 'any answer to OPTIONS says that the server is up again',
      run: async () => {
        await probe.options();
        return PASSED;
      },
    },
  ];
}

/** Sends requests as a gateway does, and some as it never would. */
class HttpProbe {
  readonly #server: CheckedServer;

  constructor(server: CheckedServer) {
    this.#server = server;
  }

  /** @throws for an answer that no gateway takes */
  async ask(turn: DialogTurn, { readEveryMs = 0 }: { readonly readEveryMs?: number } = {}): Promise<Answer> {
    const startedMs = systemClock.nowMs();
    const response = await this.post(turn, {});
    const tookMs = Math.round(systemClock.nowMs() - startedMs);
    if (response.status < 200 || response.status > 299) {
      const said = (await response.text()).replaceAll(/\s+/gu, ' ').slice(0, 200);
      throw new Error(`it was answered with HTTP ${response.status}${said === '' ? '' : `: ${said}`}`);
    }
    const actions: DialogAction[] = [];
    if (response.body === null) return { actions, tookMs };
    const body = readEveryMs === 0 ? response.body : slowly(response.body, readEveryMs);
    for await (const action of readAnswer(response.headers.get('content-type'), body)) actions.push(action);
    return { actions, tookMs };
  }

  async passes(turn: DialogTurn): Promise<Finding> {
    await this.ask(turn);
    return PASSED;
  }

  /** Breaks a request off before its answer. */
  async abort(turn: DialogTurn): Promise<void> {
    const abort = new AbortController();
    const asked = this.post(turn, { signal: abort.signal }).catch(() => undefined);
    await sleep(systemClock, 20);
    abort.abort();
    await (await asked)?.body?.cancel().catch(() => undefined);
  }

  async options(): Promise<void> {
    const response = await fetch(this.#server.url, {
      method: 'OPTIONS',
      signal: AbortSignal.timeout(this.#server.timeoutMs),
      redirect: 'manual',
    });
    await response.body?.cancel();
  }

  post(
    asked: DialogTurn,
    { signing = 'right', signal }: { readonly signing?: Signing; readonly signal?: AbortSignal },
  ): Promise<Response> {
    const { url, secret, timeoutMs } = this.#server;
    const { idempotencyKey, ...turn } = asked;
    const body = JSON.stringify({ version: 1, ...turn });
    const late = AbortSignal.timeout(timeoutMs);
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, application/x-ndjson, text/event-stream, text/plain',
      'idempotency-key': idempotencyKey,
      ...traceHeaders(asked.call.callId, asked.index),
      ...signature(secret, signing, body),
    };
    const either = signal === undefined ? late : AbortSignal.any([signal, late]);
    return fetch(url, { method: 'POST', headers, body, signal: either, redirect: 'error' });
  }
}

async function* slowly(body: AsyncIterable<Uint8Array>, everyMs: number): AsyncGenerator<Uint8Array> {
  let reads = 0;
  for await (const part of body) {
    reads += 1;
    if (reads <= MOST_SLOW_READS) await sleep(systemClock, everyMs);
    yield part;
  }
}
