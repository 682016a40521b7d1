import { z } from 'zod';
import type { CallRecord } from '../../../../src/call/log/call-record.ts';
import type { Bot } from '../../../../src/config/bots.ts';
import { Secret } from '../../../../src/config/secrets.ts';
import { defineTool } from '../../../../src/dialog/define-bot.ts';
import { type CodeTool, isCallTool } from '../../../../src/dialog/llm/tools.ts';
import type { DialogAction, DialogHook } from '../../../../src/dialog/port.ts';
import { type RealtimeHookSettings, realtimeHooks } from '../../../../src/dialog/realtime/realtime-hook.ts';
import { realtimeVendors } from '../../../../src/dialog/realtime/registry.ts';
import { ownTools } from '../../../../src/dialog/tools/own-tools.ts';
import { ToolBox } from '../../../../src/dialog/tools/tool-box.ts';
import { type SwitchableBot, switchingBots } from '../../../../src/dialog/switching-bots.ts';
import type { Clock } from '../../../../src/kernel/clock.ts';
import { SimulatedGemini } from '../../../../src/sim/realtime/gemini.ts';
import { SimulatedOpenAi } from '../../../../src/sim/realtime/openai.ts';
import type {
  SimulatedRealtime,
  SimulatedRealtimeOptions,
  SimulatedReply,
} from '../../../../src/sim/realtime/simulated-model.ts';
import { wireTo } from '../../../support/vendors/realtime-wire.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type BenchLeg, CallBench } from '../../call/call-bench.ts';

export interface RealtimeBenchOptions extends Omit<Partial<SimulatedRealtimeOptions>, 'clock' | 'script'> {
  readonly vendor?: 'openai' | 'gemini';
  /** Replies in order; the last one is repeated. */
  readonly replies: readonly SimulatedReply[];
  readonly settings?: Partial<RealtimeHookSettings>;
  readonly tools?: readonly CodeTool[];
  readonly bot?: Partial<Bot>;
  readonly leg?: BenchLeg;
  /** Bots that may get the call, and what is done when the vendor is away. */
  readonly others?: (clock: Clock) => readonly SwitchableBot[];
  readonly whenDown?: SwitchableBot['whenDown'];
  /** The bot that answers the call; the model's where absent. */
  readonly first?: string;
}

/** A call in virtual time with a simulated vendor. */
export interface RealtimeBench {
  readonly bench: CallBench;
  readonly sim: SimulatedRealtime;
  /** What the answers used, as reported. */
  readonly used: (DialogAction & { readonly type: 'usage' })[];
}

const SETTINGS = {
  url: undefined,
  model: 'gpt-realtime',
  voice: undefined,
  secret: new Secret('sk-simulated'),
  instructions: 'You answer for a clinic.',
  greeting: 'Hello, this is the clinic.',
  turns: 'offhook',
  maxTokens: 4_096,
  timeoutMs: 8_000,
  turnTimeoutMs: 30_000,
  transfers: { desk: { to: '+15550100', warm: false } },
  goodbye: () => 'Goodbye.',
} as const;

export function realtimeBench(options: RealtimeBenchOptions): RealtimeBench {
  const {
    vendor = 'openai',
    replies,
    settings,
    tools = [],
    bot = {},
    leg,
    others,
    whenDown,
    first = 'bench',
    ...simulated
  } = options;
  let time: ManualClock | undefined;
  let sim: SimulatedRealtime | undefined;
  const used: RealtimeBench['used'] = [];
  const hooksOf = (clock: ManualClock) => {
    const script: SimulatedRealtimeOptions['script'] = ({ index }) => replies[Math.min(index, replies.length - 1)] ?? {};
    const given = { ...simulated, clock, script };
    sim = vendor === 'openai' ? new SimulatedOpenAi(given) : new SimulatedGemini(given);
    const toolBox = new ToolBox(ownTools([], tools, { ...SETTINGS, clock }), [], isCallTool);
    const made = realtimeHooks({ ...SETTINGS, toolBox, vendor: realtimeVendors[vendor], ...settings }, clock, wireTo(sim, clock));
    const hooks = { create: (...args: Parameters<typeof made.create>) => watched(made.create(...args), used) };
    const own = { name: 'bench', language: 'en', voice: 'Nisha', dialog: { kind: 'module', file: 'bench.js' } } as const;
    const bots = [{ bot: own, hooks, whenDown }, ...(others?.(clock) ?? [])];
    return switchingBots(bots, { clock }).get(first) ?? hooks;
  };
  const dialog = {
    create: (call: Parameters<SwitchableBot['hooks']['create']>[0]) =>
      hooksOf(time as ManualClock).create({ ...call, botName: options.first ?? 'bench' }),
  };
  const nothing = (): never => {
    throw new Error('the dialog of the bench is not asked');
  };
  const bench = new CallBench(nothing, bot, { dialog }, (clock) => ((time = clock), {}), leg);
  if (sim === undefined) throw new Error('the dialog was not created');
  return { bench, sim, used };
}

/** A dialog without a call. */
export function textBench(replies: readonly SimulatedReply[]): { hook: DialogHook; sim: SimulatedRealtime; clock: ManualClock } {
  const clock = new ManualClock();
  const sim = new SimulatedOpenAi({ clock, script: ({ index }) => replies[index] ?? {} });
  const toolBox = new ToolBox([], [], isCallTool);
  const hooks = realtimeHooks({ ...SETTINGS, toolBox, vendor: realtimeVendors.openai }, clock, wireTo(sim, clock));
  const facts = { callId: 'chat', botName: 'bench', from: '+1', to: '+2', direction: 'inbound', language: 'en' } as const;
  return { hook: hooks.create(facts), sim, clock };
}

/** Answers the call and lets the bot greet. @param words then said by the caller @returns the bench, to be disposed of with the test */
export async function greeted(bench: CallBench, words?: string): Promise<CallBench> {
  await bench.start();
  await bench.quiet(2_500);
  if (words !== undefined) await says(bench, 0, words);
  return bench;
}

/** The caller says something, which the recogniser understands. */
export async function says(bench: CallBench, seg: number, text: string, ms = 800): Promise<void> {
  await bench.voice(ms);
  bench.partial(seg, text);
  await bench.quiet(640);
  bench.recognised(seg, text);
  await bench.quiet(60);
}

/** Hangs up, unless the call is over. */
export async function endOf(bench: CallBench): Promise<CallRecord> {
  bench.session.hangUp('done');
  return bench.session.ended;
}

interface SentSession {
  readonly audio: {
    readonly input: { readonly format: object; readonly turn_detection: unknown };
    readonly output: { readonly format: object };
  };
}

/** The settings that the last session was opened with. */
export function settingsSent(sim: SimulatedRealtime): SentSession {
  return sim.received.at(-1)?.find(({ type }) => type === 'session.update')?.['session'] as SentSession;
}

/** A tool in code that takes a `day`. */
export function toolOf(name: string, description: string, run: (args: { day: string }) => Promise<string>): CodeTool {
  return defineTool({ name, description, parameters: z.object({ day: z.string() }), run });
}

function watched(hook: DialogHook, used: RealtimeBench['used']): DialogHook {
  return {
    listener: hook.listener,
    get due() {
      return hook.due;
    },
    async *respond(turn, signal) {
      for await (const action of hook.respond(turn, signal)) {
        if (action.type === 'usage') used.push(action);
        yield action;
      }
    },
    dispose: async () => hook.dispose?.(),
  };
}
