import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallRecord } from '../../call/log/call-record.ts';
import { loadBots } from '../../config/bot-files.ts';
import type { Bot } from '../../config/bots.ts';
import { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { SimulatedOpenAi } from '../../sim/realtime/openai.ts';
import { serveRealtime } from '../../sim/realtime/serve.ts';
import type { SimulatedReply } from '../../sim/realtime/simulated-model.ts';
import { fromPackage } from '../setup/package-root.ts';
import type { Scenario } from './scenario.ts';

const DESK = '+12025550123';
const KEY = 'simulated-key';
const HOURS =
  'We are open from eight in the morning to six in the evening, on Saturdays until noon, and on Sundays we are closed all day.';

const scenario: Scenario = {
  bot: 'desk',
  language: 'en',
  rate: 0.95,
  lines: [
    { act: 'say', text: 'when are you open', reply: /eight in the morning/u },
    { act: 'interrupt', text: "I'd like to book an appointment", afterMs: 3_000, reply: /half past ten is free/u },
    { act: 'say', text: 'yes please', reply: /Press one/u },
    { act: 'press', text: '1', reply: /connect you/u },
    { act: 'wait-for-end', text: '' },
  ],
};

/** What the simulated model answers, by how often it was heard, and by the result of its tool; the second answer calls a tool, and the third speaks about its result. */
const REPLIES: readonly SimulatedReply[] = [
  { say: HOURS },
  { calls: [{ name: 'free_times', args: { day: 'Tuesday' } }] },
  { say: 'Tuesday at half past ten is free. Shall I book it?' },
  {
    say: 'It is booked. Press one to be connected.',
    calls: [{ name: 'ask_keys', args: { kind: 'digits', digits: 1, say_again: 'Press one.' } }],
  },
  { say: 'I will connect you.', calls: [{ name: 'transfer_call', args: { to: 'desk' } }] },
];

/** How much of a speech the caller heard: as the vendor was told, and as the ledger has it. */
export interface Truncation {
  readonly text: string;
  readonly toldMs: number;
  readonly ledgerMs: number;
}

/** The vendor and the ledger agree to within this. */
const AGREE_MS = 20;

export interface RealtimeDemo extends AsyncDisposable {
  readonly bot: Bot;
  readonly scenario: Scenario;
  /** What the vendor and the tool saw of the call. */
  check(record: CallRecord): {
    readonly truncations: readonly Truncation[];
    readonly tools: number;
    readonly problems: readonly string[];
  };
}

/** The demo's bot of the kind `realtime`: the one that `offhook init` makes, with a simulated vendor and a tool of this process. */
export async function startRealtimeDemo(clock: Clock): Promise<RealtimeDemo> {
  const vendor = new SimulatedOpenAi({
    clock,
    apiKey: KEY,
    script: ({ said, results }) => REPLIES[said === 0 ? 0 : said === 1 ? Math.min(2, 1 + results) : Math.min(4, said + 1)] ?? {},
  });
  const server = await serveRealtime(vendor);
  let tools = 0;
  const tool = createServer((request, response) => {
    tools += 1;
    request.resume().on('end', () => response.end('Tuesday half past ten'));
  });
  await new Promise<void>((resolve) => tool.listen(0, '127.0.0.1', resolve));
  const { bots } = loadBots(fromPackage('config/templates/realtime/config/bots'), { OPENAI_API_KEY: KEY });
  const [read] = bots;
  if (read?.dialog.kind !== 'realtime') throw new Error('the bot of the demo cannot be read');
  const address = `http://127.0.0.1:${(tool.address() as AddressInfo).port}/free`;
  const parameters = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };
  const free = { name: 'free_times', description: 'Times that are free on a day', parameters, url: address };
  const dialog = { ...read.dialog, url: server.url, tools: [free], transfers: { desk: { to: DESK, warm: false } } };
  const hints = scenario.lines.flatMap(({ act, text }) => (act === 'say' || act === 'interrupt' ? [text] : []));
  return {
    bot: { ...read, hints, dialog, dialogSecret: new Secret(KEY) },
    scenario,
    check(record) {
      const truncations = vendor.conversation.flatMap(({ text, heardMs }): Truncation[] => {
        const sentence = record.sentences.find((each) => each.text === text);
        return heardMs === undefined || sentence === undefined
          ? []
          : [{ text, toldMs: heardMs, ledgerMs: sentence.heard.likelyMs }];
      });
      const problems = vendor.complaints.map((complaint) => `the vendor complains: ${complaint}`);
      if (truncations.length !== 1)
        problems.push(`${truncations.length} speeches were cut short at the vendor where the script has one`);
      for (const { toldMs, ledgerMs } of truncations)
        if (Math.abs(toldMs - ledgerMs) > AGREE_MS)
          problems.push(`the vendor was told ${toldMs} ms, and ${Math.round(ledgerMs)} ms were heard`);
      if (tools !== 1) problems.push(`the tool was called ${tools} times`);
      if (record.endReason !== 'transferred') problems.push(`the call ended as ${record.endReason}, and was to be transferred`);
      return { truncations, tools, problems };
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      tool.closeAllConnections();
      await new Promise((resolve) => tool.close(resolve));
    },
  };
}
