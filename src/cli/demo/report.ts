import type { CallRecord, TurnRecord } from '../../call/log/call-record.ts';
import type { StepReport } from '../../sim/caller.ts';
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
  readonly turns: readonly DemoTurn[];
  readonly interruptions: readonly { readonly turn: number; readonly atMs: number; readonly botSilentMs: number | undefined }[];
  readonly digits: string;
  readonly recording: string | undefined;
  readonly record: string;
  readonly analysis: string | undefined;
  /** Differences from the script. */
  readonly problems: readonly string[];
}

/** The bot must be silent within this time after the first sample of the caller's interruption, as the caller hears it. */
const MOST_SILENT_MS = 300;

/** Compares what happened with the script; every difference is a problem. */
export function judge(
  scenario: Scenario,
  reports: readonly StepReport[],
  record: Pick<CallRecord, 'turns' | 'interruptions' | 'digits' | 'recordingPath' | 'recordingFailure'>,
  files: { readonly record: string; readonly analysis: string | undefined },
  before: readonly string[],
): DemoReport {
  const problems = [...before];
  const spoken = turnLines(scenario);
  const answered = record.turns.filter(({ index }) => index > 0);
  if (answered.length !== spoken.length) problems.push(`${answered.length} turns where the script has ${spoken.length}`);
  for (const [index, line] of spoken.entries()) {
    const turn = answered[index];
    if (turn === undefined) continue;
    if (strays(scenario, turn.index, turn.callerText)) {
      problems.push(`turn ${turn.index}: the caller's line is "${line.text}", recognised was "${turn.callerText}"`);
    }
    if (line.reply !== undefined && !line.reply.test(turn.botText))
      problems.push(`turn ${turn.index}: the bot answered "${turn.botText}"`);
  }
  const interruption = reports.find(({ kind }) => kind === 'interrupt');
  const cutTurn = record.interruptions[0];
  if (record.interruptions.length !== 1) problems.push(`${record.interruptions.length} interruptions where the script has one`);
  if (interruption?.botSilentMs === undefined) problems.push('the bot did not stop for the interruption');
  else if (interruption.botSilentMs > MOST_SILENT_MS) problems.push(`the bot spoke on for ${interruption.botSilentMs} ms`);
  const digits = spoken.flatMap(({ act, text }) => (act === 'press' ? [text] : [])).join('');
  if (record.digits !== digits) problems.push(`keys "${record.digits}" where "${digits}" were pressed`);
  if (record.recordingPath === undefined) problems.push(`no recording: ${record.recordingFailure ?? 'nothing was heard'}`);
  if (files.analysis === undefined) problems.push('no analysis came in time');
  const said = new Map(spoken.map((line, index) => [index + 1, line.text]));
  return {
    ok: problems.length === 0,
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
