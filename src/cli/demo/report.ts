import type { CallRecord, TurnRecord } from '../../call/log/call-record.ts';
import type { Carrier } from '../../carriers/carrier.ts';
import { DEFAULT_LEAD, leadFor } from '../../call/outbound/playout-pace.ts';
import type { CarrierCapabilities } from '../../carriers/port.ts';
import type { StepReport } from '../../sim/caller/caller.ts';
import type { LineFormats } from '../../sim/carrier-line.ts';
import { WordErrorCount } from '../../sim/caller/word-errors.ts';
import type { Truncation } from './realtime.ts';
import type { Scenario } from './scenario.ts';

export interface DemoTurn {
  /** The caller's line in the script. */
  readonly caller: string;
  readonly recognised: string;
  readonly bot: string;
  readonly botHeard: string;
  readonly latencyMs: TurnRecord['latency'];
}

export interface DemoReport {
  readonly ok: boolean;
  readonly carrier: {
    readonly name: string;
    /** What an interrupted bot may still say, where the carrier takes back nothing: what it was sent already. */
    readonly clear: CarrierCapabilities['clear'];
    /** `botHeard` is proven by marks that came back, or estimated by a clock where the carrier has none. */
    readonly heard: 'proven' | 'estimated';
  };
  readonly turns: readonly DemoTurn[];
  readonly interruptions: readonly { readonly turn: number; readonly atMs: number; readonly botSilentMs: number | undefined }[];
  readonly digits: string;
  /** Of what models heard; absent where the built-in recogniser did, which is held to every word. */
  readonly wordErrors?: { readonly words: number; readonly errors: number; readonly percent: number };
  readonly recording: string | undefined;
  readonly record: string;
  readonly analysis: string | undefined;
  /** With a speech-to-speech model: what it was told of cut speeches, and calls of its tool. */
  readonly truncations?: readonly Truncation[];
  readonly tools?: number;
  /** Differences from the script. */
  readonly problems: readonly string[];
}

/** From the first sample of the caller's interruption until they hear the bot no more, at a carrier that takes back audio at once. */
const SILENT_WITHIN_MS = 300;
const SHORTEST_MESSAGE_MS = 20;

/**
 * The time in which an interrupted bot has to be silent: the longer a carrier gathers the caller's audio before it sends it, and the more
 * it plays of what it cannot take back, the later.
 */
export function silentWithinMs(capabilities: CarrierCapabilities, { ptimeMs = SHORTEST_MESSAGE_MS }: LineFormats): number {
  const playsOnMs = capabilities.clear === 'native' ? 0 : leadFor(capabilities, DEFAULT_LEAD).leadMaxMs;
  return SILENT_WITHIN_MS + (ptimeMs - SHORTEST_MESSAGE_MS) + playsOnMs;
}

/** What the call came through. */
export interface DemoCall {
  readonly scenario: Scenario;
  readonly carrier: Pick<Carrier, 'name' | 'capabilities'>;
  readonly line: LineFormats;
  /** Whether models spoke and heard. */
  readonly real?: boolean;
}

/** Compares what happened with the script; every difference is a problem. */
export function judge(
  { scenario, carrier, line, real = false }: DemoCall,
  reports: readonly StepReport[],
  record: Pick<CallRecord, 'turns' | 'interruptions' | 'digits' | 'recordingPath' | 'recordingFailure'>,
  files: { readonly record: string; readonly analysis: string | undefined },
  before: readonly string[],
): DemoReport {
  const problems = [...before];
  const { clear, marks } = carrier.capabilities;
  const spoken = turnLines(scenario);
  const answered = record.turns.filter(({ index }) => index > 0);
  if (answered.length !== spoken.length) problems.push(`${answered.length} turns where the script has ${spoken.length}`);
  for (const [index, line] of spoken.entries()) {
    const turn = answered[index];
    if (turn === undefined) continue;
    if (!real && strays(scenario, turn.index, turn.callerText)) {
      problems.push(`turn ${turn.index}: the caller's line is "${line.text}", recognised was "${turn.callerText}"`);
    }
    if (line.reply !== undefined && !line.reply.test(turn.botText))
      problems.push(`turn ${turn.index}: the bot answered "${turn.botText}"`);
  }
  const interruption = reports.find(({ kind }) => kind === 'interrupt');
  const cutTurn = record.interruptions[0];
  if (record.interruptions.length !== 1) problems.push(`${record.interruptions.length} interruptions where the script has one`);
  if (interruption?.botSilentMs === undefined) problems.push('the bot did not stop for the interruption');
  else if (interruption.botSilentMs > silentWithinMs(carrier.capabilities, line))
    problems.push(`the bot spoke on for ${interruption.botSilentMs} ms`);
  const digits = spoken.flatMap(({ act, text }) => (act === 'press' ? [text] : [])).join('');
  if (record.digits !== digits) problems.push(`keys "${record.digits}" where "${digits}" were pressed`);
  if (record.recordingPath === undefined) problems.push(`no recording: ${record.recordingFailure ?? 'nothing was heard'}`);
  if (files.analysis === undefined) problems.push('no analysis came in time');
  const count = new WordErrorCount();
  for (const [index, { act, text }] of spoken.entries()) if (act !== 'press') count.add(text, answered[index]?.callerText ?? '');
  const said = new Map(spoken.map((line, index) => [index + 1, line.text]));
  return {
    ok: problems.length === 0,
    carrier: { name: carrier.name, clear, heard: marks === 'native' ? 'proven' : 'estimated' },
    turns: record.turns.map((turn) => ({
      caller: said.get(turn.index) ?? '',
      recognised: turn.callerText,
      bot: turn.botText,
      botHeard: turn.botHeardText,
      latencyMs: turn.latency,
    })),
    interruptions:
      cutTurn === undefined || interruption === undefined
        ? []
        : [{ turn: cutTurn.turn, atMs: Math.round(interruption.atMs), botSilentMs: roundedOf(interruption.botSilentMs) }],
    digits: record.digits,
    ...(real ? { wordErrors: { words: count.words, errors: count.errors, percent: count.percent } } : {}),
    recording: record.recordingPath,
    record: files.record,
    analysis: files.analysis,
    problems,
  };
}

/** The lines that the bot answers, in the order of its turns, the greeting not counted. */
function turnLines({ lines }: Scenario): Scenario['lines'] {
  return lines.filter(({ act }) => act === 'say' || act === 'interrupt' || act === 'press');
}

/** Whether a turn's recognised text differs from the script. @param turn index; the greeting is 0 */
export function strays(scenario: Scenario, turn: number, callerText: string): boolean {
  return turn > 0 && plain(callerText) !== plain(turnLines(scenario)[turn - 1]?.text ?? '');
}

function roundedOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms);
}

/** Letters and digits alone: the recogniser writes no punctuation. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();
}
