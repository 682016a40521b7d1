import { languageOf, WEEKDAYS } from '../../language/index.ts';
import { soundLabel } from '../port.ts';
import { edgesOfState, type EdgeReason, entriesOf } from './flow-parts.ts';
import { zoneOf } from './hours.ts';
import type { Flow, Prompt, StateDocument } from './schema.ts';
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
  const byTarget = new Map<string, EdgeReason[]>();
  const add = (to: string, reason: EdgeReason): unknown => byTarget.set(to, [...(byTarget.get(to) ?? []), reason]);
  const [own, others] = [true, false].map((isClosed) =>
    edgesOfState(from, state).filter(({ reason }) => (reason.kind === 'closed') === isClosed),
  );
  for (const { to, reason } of own ?? []) add(to, reason);
  if (closed !== undefined && closed !== state.closed) add(closed, { kind: 'closed' });
  for (const { to, reason } of others ?? []) add(to, reason);
  return [...byTarget].map(([to, when]) => ({ from, to, when }));
}
