import { once } from 'node:events';
import twilio from 'twilio';
import { WebSocket } from 'ws';
import type { CallFacts } from '../../dialog/port.ts';
import { endsAnswer, readServerMessage, type ServerMessage, setupMessage } from '../../dialog/relay/relay-socket.ts';
import { systemClock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { sleep, within } from '../../kernel/waiting.ts';
import { type Check, failed, type Finding, PASSED } from './check.ts';
import type { CheckedServer } from './http-checks.ts';
import { sampleCall } from './sample-turns.ts';

/** A socket that a server closes for a message is closed within this time. */
const SETTLE_MS = 300;
const CALLS_AT_ONCE = 10;
const MOST_FRAME_BYTES = 64 * 1024;

const HELLO = { type: 'prompt', voicePrompt: 'hello, when are you open?', lang: 'en', last: true } as const;

/** Everything that a gateway can send to a server of the ConversationRelay messages, and what the server has to do (docs/dialog-hooks.md, "relay"). */
export function relayChecks(server: CheckedServer): readonly Check[] {
  return [
    {
      name: 'setup',
      rule: 'the socket opens, and stays open after the setup',
      run: () => withCall(server, sampleCall(), async (call) => call.staysOpen()),
    },
    {
      name: 'prompt',
      rule: 'a prompt is answered with text, of which the last has last: true, a sound, or an end',
      run: () => withCall(server, sampleCall(), (call) => call.answers(HELLO)),
    },
    {
      name: 'several prompts',
      rule: 'each prompt has its own answer, in order',
      run: () =>
        withCall(server, sampleCall(), async (call) => {
          for (const voicePrompt of ['hello', 'and on Sunday?', 'thank you']) {
            const finding = await call.answers({ ...HELLO, voicePrompt });
            if (finding.is !== 'passed' || call.isOver) return finding;
          }
          return PASSED;
        }),
    },
    ...tolerated('keys', 'a key is one dtmf message; an answer is optional', [
      { type: 'dtmf', digit: '1' },
      { type: 'dtmf', digit: '#' },
    ]),
    ...tolerated('an interruption', 'interrupt says what the caller heard; the next prompt is answered', [
      HELLO,
      { type: 'interrupt', utteranceUntilInterrupt: 'We are op', durationUntilInterruptMs: 420 },
    ]),
    ...tolerated(
      'an abandoned prompt',
      'a prompt whose caller goes on speaking is interrupted before any reply; the next prompt is answered',
      [HELLO, { type: 'interrupt', utteranceUntilInterrupt: '', durationUntilInterruptMs: 0 }],
    ),
    ...tolerated('the outcome of a transfer', "Offhook's own message is answered or ignored", [
      { type: 'transfer', outcome: 'busy', to: '+15550100123', cause: '486' },
    ]),
    ...tolerated('advice of an operator', "Offhook's own message is heeded or ignored", [
      { type: 'advice', text: 'Offer Tuesday.' },
    ]),
    ...tolerated('a refused message', 'an error message is no reason to close', [
      { type: 'error', description: 'a message was dropped' },
    ]),
    ...tolerated('an unknown message', 'a message that the server does not know is ignored', [{ type: 'future', value: 1 }]),
    {
      name: 'unknown fields',
      rule: 'fields that the server does not know are ignored',
      run: () =>
        withCall(server, sampleCall(), (call) =>
          call.answers({
            ...HELLO,
            future: { a: [1] },
            resumed: { gapMs: 900, outcome: 'unknown' },
            callBack: { atMs: 1, said: 'tomorrow' },
          }),
        ),
    },
    {
      name: 'a resumed call',
      rule: 'a setup with a known sessionId and resumed: true, on a new socket, goes on',
      run: async () => {
        const call = sampleCall();
        const sessionId = `VX${newId('rel').slice('rel_'.length)}`;
        const first = await withCall(server, call, (each) => each.answers(HELLO), { sessionId });
        if (first.is === 'failed') return first;
        return withCall(server, call, (each) => each.answers(HELLO), { sessionId, resumed: true });
      },
    },
    {
      name: 'a lost socket',
      rule: 'a call whose socket breaks in the middle of an answer disturbs no other',
      run: async () => {
        await withCall(server, sampleCall(), async (call) => {
          call.send(HELLO);
          call.terminate();
          return PASSED;
        });
        return withCall(server, sampleCall(), (call) => call.answers(HELLO));
      },
    },
    {
      name: 'calls at the same time',
      rule: `${CALLS_AT_ONCE} calls at once are all answered`,
      run: async () => {
        const found = await Promise.all(
          Array.from({ length: CALLS_AT_ONCE }, () => withCall(server, sampleCall(), (call) => call.answers(HELLO))),
        );
        return found.find(({ is }) => is !== 'passed') ?? PASSED;
      },
    },
    ...(['wrong', 'missing'] as const).map((signing): Check => ({
      name: `a signature that is ${signing}`,
      rule: `a handshake whose X-Twilio-Signature is ${signing} is refused`,
      run: async () => {
        if (server.secret === undefined) return { is: 'skipped', got: 'no secret was given (--secret-env NAME)' };
        const socket = await open(server, signing).catch(() => undefined);
        socket?.terminate();
        return socket === undefined ? PASSED : failed('the socket opened: anybody who knows the address can talk to the bot');
      },
    })),
  ];

  /** A message after which the socket has to be open, and the next prompt answered. */
  function tolerated(name: string, rule: string, messages: readonly object[]): Check[] {
    const run = (): Promise<Finding> =>
      withCall(server, sampleCall(), async (call) => {
        for (const message of messages) call.send(message);
        const open = await call.staysOpen();
        return open.is === 'failed' ? open : call.answers(HELLO);
      });
    return [{ name, rule, run }];
  }
}

/** @throws the error of a server that refuses or cannot be reached */
async function open({ url, secret, timeoutMs }: CheckedServer, signing: 'right' | 'wrong' | 'missing'): Promise<WebSocket> {
  const signed = signing === 'wrong' ? `${url}/other` : url;
  const signature =
    secret === undefined || signing === 'missing' ? undefined : twilio.getExpectedTwilioSignature(secret.reveal(), signed, {});
  const headers = signature === undefined ? {} : { 'X-Twilio-Signature': signature };
  const socket = new WebSocket(url, {
    headers,
    handshakeTimeout: timeoutMs,
    maxPayload: MOST_FRAME_BYTES,
    perMessageDeflate: false,
  });
  await once(socket, 'open');
  return socket;
}

/** Runs a check in a call of its own: a signed socket, with its setup sent. */
async function withCall(
  server: CheckedServer,
  call: CallFacts,
  check: (call: RelayCall) => Promise<Finding>,
  setup: { readonly sessionId?: string; readonly resumed?: true } = {},
): Promise<Finding> {
  const { sessionId = `VX${newId('rel').slice('rel_'.length)}`, resumed } = setup;
  const relay = new RelayCall(await open(server, 'right'), server.timeoutMs);
  try {
    relay.send({ ...setupMessage(sessionId, call, { plan: 'gold' }), ...(resumed === undefined ? {} : { resumed }) });
    const finding = await check(relay);
    return relay.invalid === undefined ? finding : failed(`it sent what is no message of the protocol: ${relay.invalid}`);
  } finally {
    relay.close();
  }
}

/** One call over a socket, from the gateway's side. */
class RelayCall {
  /** The first message that a gateway drops. */
  invalid: string | undefined;
  readonly #socket: WebSocket;
  readonly #timeoutMs: number;
  readonly #messages: ServerMessage[] = [];
  #ended = false;
  #closed: string | undefined;
  #wake: () => void = () => undefined;

  constructor(socket: WebSocket, timeoutMs: number) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      const text = data.toString('utf8');
      const message = isBinary ? undefined : readServerMessage(text);
      if (message === undefined) this.invalid ??= text.slice(0, 200);
      else this.#messages.push(message);
      this.#wake();
    });
    socket.on('close', (code: number) => {
      this.#closed = `the server closed the socket with ${code}`;
      this.#wake();
    });
    socket.on('error', () => undefined);
  }

  /** The server has ended the call. */
  get isOver(): boolean {
    return this.#ended;
  }

  send(message: object): void {
    this.#socket.send(JSON.stringify(message), () => undefined);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  close(): void {
    this.#socket.close(1000);
  }

  async staysOpen(): Promise<Finding> {
    await sleep(systemClock, SETTLE_MS);
    return this.#closed === undefined ? PASSED : failed(this.#closed);
  }

  /** Sends a prompt and waits for the end of its answer. What the server said before is not part of it. */
  async answers(prompt: object): Promise<Finding> {
    await sleep(systemClock, SETTLE_MS);
    this.#messages.length = 0;
    this.send(prompt);
    const finding = await within(
      systemClock,
      this.#timeoutMs,
      this.#answer(),
      failed(`no answer had ended after ${this.#timeoutMs} ms${this.#soFar()}`),
    );
    return finding;
  }

  #soFar(): string {
    return this.#messages.length === 0 ? '' : ': its last text has no last: true';
  }

  async #answer(): Promise<Finding> {
    for (;;) {
      const over = this.#messages.find((message) => endsAnswer(message) || message.type === 'play');
      if (over !== undefined) {
        this.#ended ||= this.#messages.some(({ type }) => type === 'end');
        return PASSED;
      }
      if (this.invalid !== undefined) return failed(`it sent what is no message of the protocol: ${this.invalid}`);
      if (this.#closed !== undefined) return failed(this.#closed);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
