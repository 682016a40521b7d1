import type { Bot } from '../../config/bots.ts';
import { MULAW_8K } from '../../audio/format.ts';
import { systemClock } from '../../kernel/clock.ts';
import { readText } from '../../kernel/bounded-reading.ts';
import { llmHooks } from '../../dialog/llm/llm-hook.ts';
import type { CallFacts, DialogTurn } from '../../dialog/port.ts';
import { RealtimeSession } from '../../dialog/realtime/realtime-session.ts';
import { realtimeVendors } from '../../dialog/realtime/registry.ts';
import { openSocket } from '../../dialog/realtime/session-socket.ts';
import { openRelay } from '../../dialog/relay/relay-hook.ts';
import type { Check, CheckOutcome } from './check.ts';

const MOST_MESSAGE_BYTES = 64 * 1024;
const MOST_MESSAGE_CHARACTERS = 300;
/** The default timeout of a flow's request. */
const FLOW_SERVER_MS = 4_000;

/**
 * One check for each server of these bots, without side effects: an `OPTIONS` request to an http bot, to a flow's server and to a
 * model's tools, a handshake with a relay, and a model's greeting, stopped at its first words.
 */
export function botChecks(bots: readonly Bot[]): Check[] {
  return bots.flatMap((bot): Check[] => {
    const { dialog, name } = bot;
    switch (dialog.kind) {
      case 'http':
        return [serverCheck(`server of bot ${name}`, dialog.url, dialog.timeoutMs)];
      case 'relay':
        return [relayCheck(bot, dialog)];
      case 'llm': {
        const tools = dialog.tools.map((tool) => serverCheck(`tool ${tool.name} of bot ${name}`, tool.url, dialog.timeoutMs));
        return [modelCheck(bot, dialog), ...tools];
      }
      case 'realtime': {
        const tools = dialog.tools.map((tool) => serverCheck(`tool ${tool.name} of bot ${name}`, tool.url, dialog.timeoutMs));
        return [realtimeCheck(bot, dialog), ...tools];
      }
      case 'flow':
        return bot.serverUrl === undefined ? [] : [serverCheck(`server of bot ${name}`, bot.serverUrl, FLOW_SERVER_MS)];
      case 'module':
        return [];
    }
  });
}

/** Any answer shows that the server is up, since few implement `OPTIONS`; a proxy's 502 to 504 shows that it is down. */
function serverCheck(name: string, url: string, timeoutMs: number): Check {
  return {
    name,
    advice: `start the server at ${shownUrl(url)}, or correct its address in the bot's file`,
    async run(signal) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const response = await fetch(url, { method: 'OPTIONS', redirect: 'manual', signal: limit });
      const told = await readText(response, MOST_MESSAGE_BYTES).catch(() => '');
      const detail = `${shownUrl(url)} answers with HTTP ${response.status}`;
      const ok = ![502, 503, 504].includes(response.status);
      return ok
        ? { ok, detail }
        : { ok, detail: `${detail}: ${told.replaceAll(/\s+/gu, ' ').trim().slice(0, MOST_MESSAGE_CHARACTERS)}` };
    },
  };
}

function relayCheck(bot: Bot, dialog: Bot['dialog'] & { kind: 'relay' }): Check {
  return {
    name: `relay of bot ${bot.name}`,
    advice: `start the server at ${shownUrl(dialog.url)}, or correct the address or the secret in the bot's file`,
    async run(signal) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(dialog.timeoutMs)]);
      const socket = await openRelay({ url: dialog.url, secret: bot.dialogSecret }, limit);
      socket.close();
      return { ok: true, detail: `${shownUrl(dialog.url)} takes a WebSocket` };
    },
  };
}

/** Asks the model as a call does, but without the bot's own tools. */
function modelCheck(bot: Bot, dialog: Bot['dialog'] & { kind: 'llm' }): Check {
  const { model, baseUrl } = dialog;
  return {
    name: `model of bot ${bot.name}`,
    advice: `check baseUrl (${shownUrl(baseUrl)}), model (${model}) and secretEnv in the bot's file, and the account there`,
    async run(signal): Promise<CheckOutcome> {
      const settings = { ...dialog, secret: bot.dialogSecret, greeting: undefined, guard: undefined, tools: [] };
      const call: CallFacts = {
        callId: 'doctor',
        botName: bot.name,
        from: '',
        to: '',
        direction: 'inbound',
        language: bot.language,
      };
      const input = { kind: 'start' } as const;
      const turn: DialogTurn = { call, index: 0, input, history: [], variables: {}, idempotencyKey: 'doctor' };
      const enough = new AbortController();
      const answer = llmHooks(settings, systemClock)
        .create(call)
        .respond(turn, AbortSignal.any([signal, enough.signal]));
      for await (const action of answer) {
        enough.abort(new Error('the model has answered'));
        return { ok: true, detail: `${model} at ${shownUrl(baseUrl)} answers (${action.type})` };
      }
      return { ok: false, detail: `${model} at ${shownUrl(baseUrl)} answered with nothing` };
    },
  };
}

/** Opens one session, as a call does, and asks for no answer. */
function realtimeCheck(bot: Bot, dialog: Bot['dialog'] & { kind: 'realtime' }): Check {
  const vendor = realtimeVendors[dialog.vendor];
  const model = dialog.model ?? vendor.defaultModel;
  const address = shownUrl(vendor.url({ url: dialog.url, model }));
  return {
    name: `model of bot ${bot.name}`,
    advice: `check url (${address}), model (${model}) and secretEnv in the bot's file, and the account there`,
    async run(signal) {
      const { voice, instructions, maxTokens, reasoningEffort, turns } = dialog;
      const formats = vendor.formats({ rateHz: 8_000, speech: MULAW_8K });
      const setup = { model, voice, instructions, functions: [], maxTokens, reasoningEffort, turns, ...formats };
      const nothing = (): void => undefined;
      const session = new RealtimeSession(
        { vendor, setup, key: bot.dialogSecret?.reveal(), url: dialog.url },
        { clock: systemClock, open: openSocket },
        { used: nothing, turnOver: nothing, leaving: nothing, lost: nothing },
      );
      try {
        await session.whenReady(AbortSignal.any([signal, AbortSignal.timeout(dialog.timeoutMs)]));
      } finally {
        session.close();
      }
      return { ok: true, detail: `${model} at ${address} opens a session` };
    },
  };
}

/** A URL without its parts that may have secrets. */
function shownUrl(url: string): string {
  const { origin, protocol, host, pathname } = new URL(url);
  return `${origin === 'null' ? `${protocol}//${host}` : origin}${pathname}`;
}
