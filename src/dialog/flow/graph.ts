import { languageOf, WEEKDAYS } from '../../language/index.ts';
import { soundLabel } from '../port.ts';
import { entriesOf } from './flow-parts.ts';
import { zoneOf } from './hours.ts';
import type { Condition, Flow, Prompt, StateDocument } from './schema.ts';
import { inLanguage } from './text.ts';

export const STEP_KINDS = ['ask', 'confirm', 'request', 'voicemail', 'say', 'hangup', 'queue', 'transfer', 'bot'] as const;

/** One state of a flow, for display. */
export interface GraphStep {
  /** The state's name. */
  readonly id: string;
  readonly kind: (typeof STEP_KINDS)[number];
  /** Prompts in one language, with their placeholders. */
  readonly prompts: readonly string[];
  /** Slots asked for: the main one, then others the answer may fill; the parts of a confirmation. */
  readonly slots: readonly string[];
  /** Its destination outside the flow: a hang-up's reason, a transfer's or queue's target, the bot, a request's path. */
  readonly target: string | undefined;
}

export const EDGE_KINDS = [
  'next',
  'answer',
  'when',
  'otherwise',
  'yes',
  'part',
  'failed',
  'unset',
  'gave-up',
  'closed',
  'empty',
  'key',
] as const;

/**
 * Condition of a way: `value` is the answer, the condition, the wrong part, the failure or the key. `closed`: outside business hours; `empty`: no
 * message was left.
 */
export interface EdgeReason {
  readonly kind: (typeof EDGE_KINDS)[number];
  readonly value?: string;
}

/** A way from one step to another, with all its conditions. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly when: readonly EdgeReason[];
}

/** A flow as steps and ways, in the order in which they are written. */
export interface FlowGraph {
  readonly start: string;
  /** Business hours: time zone, the times of each open day, and exceptions. */
  readonly hours:
    | { readonly timeZone: string; readonly open: readonly string[]; readonly holidays: readonly string[] }
    | undefined;
  readonly steps: readonly GraphStep[];
  readonly edges: readonly GraphEdge[];
  /** Steps reachable from anywhere: by a command, or on giving up. */
  readonly entries: readonly { readonly to: string; readonly command: string | undefined }[];
}

/** @param languageCode of the prompts; the flow's first language if it does not have this one */
export function flowGraph(flow: Flow, languageCode: string): FlowGraph {
  const asked = languageOf(languageCode);
  const language = flow.languages.includes(asked) ? asked : (flow.languages[0] ?? asked);
  const textOf = ({ text, play }: Prompt): string => inLanguage(text, language) ?? (play === undefined ? '' : soundLabel(play));
  return {
    start: flow.start,
    hours: flow.hours && hoursText(flow.hours, zoneOf(flow)),
    steps: Object.entries(flow.states).map(([id, state]) => ({
      id,
      kind: kindOf(state),
      prompts: [...(state.say ?? []), ...((state.ask ?? state.confirm ?? state.voicemail)?.prompt ?? [])]
        .map(textOf)
        .filter((text) => text !== ''),
      slots: slotsOf(state),
      target: state.hangup ?? state.transfer?.to ?? state.bot ?? state.request?.path,
    })),
    edges: Object.entries(flow.states).flatMap(([from, state]) =>
      edgesFrom(from, state, from === flow.start ? flow.hours?.closed : undefined),
    ),
    entries: entriesOf(flow)
      .filter(({ path }) => path !== 'start')
      .map(({ path, to }) => ({ to, command: /^commands\.(.+)\.go$/u.exec(path)?.[1] })),
  };
}

function slotsOf({ ask, confirm, voicemail }: StateDocument): string[] {
  if (ask !== undefined) return [ask.slot, ...ask.also];
  return voicemail?.slot === undefined ? Object.keys(confirm?.parts ?? {}) : [voicemail.slot];
}

function hoursText({ open, holidays }: NonNullable<Flow['hours']>, timeZone: string): NonNullable<FlowGraph['hours']> {
  const text = (spans: readonly { from: string; to: string }[]): string =>
    spans.map(({ from, to }) => `${from}-${to}`).join(', ');
  return {
    timeZone,
    open: WEEKDAYS.flatMap((day) => (open[day] === undefined ? [] : [`${day} ${text(open[day])}`])),
    holidays: holidays.map(({ date, open: spans }) => (spans.length === 0 ? date : `${date} ${text(spans)}`)),
  };
}

/** The state's first action in the order of a walk. */
function kindOf(state: StateDocument): GraphStep['kind'] {
  if (state.request !== undefined) return 'request';
  if (state.voicemail !== undefined) return 'voicemail';
  if (state.ask !== undefined) return 'ask';
  if (state.confirm !== undefined) return 'confirm';
  if (state.hangup !== undefined) return 'hangup';
  if (state.transfer !== undefined) return state.transfer.warm?.queue === undefined ? 'transfer' : 'queue';
  return state.bot === undefined ? 'say' : 'bot';
}

/** @param closed where a call outside business hours begins */
function edgesFrom(from: string, state: StateDocument, closed: string | undefined): GraphEdge[] {
  const { next, confirm, ask, request, transfer, voicemail } = state;
  const elsewhere = new Set([state.closed, closed].filter((to) => to !== undefined));
  const ways: [to: string, reason: EdgeReason][] = [...elsewhere].map((to) => [to, { kind: 'closed' }]);
  const failures = (failed: string | Readonly<Record<string, string>> | undefined): void => {
    if (typeof failed === 'string') ways.push([failed, { kind: 'failed' }]);
    else for (const [value, to] of Object.entries(failed ?? {})) ways.push([to, { kind: 'failed', value }]);
  };
  if (typeof next === 'string') ways.push([next, { kind: 'next' }]);
  else if (Array.isArray(next)) {
    for (const { when, go } of next)
      ways.push([go, when === undefined ? { kind: 'otherwise' } : { kind: 'when', value: conditionText(when) }]);
  } else {
    for (const [value, to] of Object.entries(next ?? {}))
      ways.push([to, value === 'otherwise' ? { kind: 'otherwise' } : { kind: 'answer', value }]);
  }
  if (confirm !== undefined) {
    ways.push([confirm.yes, { kind: 'yes' }]);
    for (const [value, to] of Object.entries(confirm.parts)) ways.push([to, { kind: 'part', value }]);
  }
  failures(request?.failed);
  if (request?.unset !== undefined) ways.push([request.unset, { kind: 'unset' }]);
  failures(transfer?.failed);
  if (voicemail?.empty !== undefined) ways.push([voicemail.empty, { kind: 'empty' }]);
  for (const [value, to] of Object.entries(transfer?.warm?.queue?.leave ?? {})) ways.push([to, { kind: 'key', value }]);
  const giveUp = ask?.giveUp ?? confirm?.giveUp;
  if (giveUp !== undefined) ways.push([giveUp, { kind: 'gave-up' }]);
  const byTarget = new Map<string, EdgeReason[]>();
  for (const [to, reason] of ways) byTarget.set(to, [...(byTarget.get(to) ?? []), reason]);
  return [...byTarget].map(([to, when]) => ({ from, to, when }));
}

/** A branch's condition as one line: `day = monday, time filled`. */
function conditionText(when: Readonly<Record<string, Condition>>): string {
  return Object.entries(when)
    .map(([slot, wanted]) => {
      if (typeof wanted === 'string' || Array.isArray(wanted)) return `${slot} = ${[wanted].flat().join(' | ')}`;
      const not = wanted.not === undefined ? [] : [`${slot} ≠ ${[wanted.not].flat().join(' | ')}`];
      return [...(wanted.filled === undefined ? [] : [`${slot} ${wanted.filled ? 'filled' : 'empty'}`]), ...not].join(', ');
    })
    .join(', ');
}
