import type { CallRecord } from '../../call/log/call-record.ts';
import type { Bot } from '../../config/bots.ts';
import { flowOf } from '../../dialog/bot-dialog.ts';
import type { ChatEvent } from '../chat/chat-event.ts';
import { saidIn } from '../chat/expectation.ts';
import { callerTurns, type Evidence, linesOf, timesOf } from './evidence.ts';
import type { CallerMoment } from './caller.ts';
import type { Rehearsal } from './rehearsal.ts';

/** The slot that each step of a flow asks for; empty for a dialog of another kind. */
export async function stepSlots({ dialog, ...bot }: Bot): Promise<ReadonlyMap<string, string>> {
  if (dialog.kind !== 'flow') return new Map();
  const { flow } = await flowOf({ ...bot, dialog }, dialog);
  return new Map(
    Object.entries(flow.states).flatMap(([name, { ask }]) => (ask === undefined ? [] : [[name, ask.slot] as const])),
  );
}

/** Watches a rehearsed call: what the caller sees as their turn comes, and what the record does not say. */
export class CallObserver {
  readonly failures: string[] = [];
  readonly warnings: string[] = [];
  readonly problems: string[] = [];
  readonly plays: string[] = [];
  readonly transfers: string[] = [];
  readonly steps: string[] = [];
  keys = '';
  /** Answers of the bot that began while the caller still spoke. */
  cutOffs = 0;
  bot: string;
  language: string;
  callBack: string | undefined;
  optOut: 'opt-out' | 'wrong-number' | undefined;
  readonly #stepSlots: ReadonlyMap<string, string>;
  #sinceAct: ChatEvent[] = [];
  #kind: string | undefined;

  constructor({ name, language }: Bot, slots: ReadonlyMap<string, string>) {
    this.bot = name;
    this.language = language;
    this.#stepSlots = slots;
  }

  moment(variables: Readonly<Record<string, string>>): CallerMoment {
    const step = this.steps.at(-1);
    const asked = [this.#kind, step === undefined ? undefined : this.#stepSlots.get(step)].filter((each) => each !== undefined);
    return { said: saidIn(this.#sinceAct), step, asked, variables };
  }

  /** The caller's next act begins. */
  acts(): void {
    this.#sinceAct = [];
    this.#kind = undefined;
  }

  readonly take = (event: ChatEvent): void => {
    this.#sinceAct.push(event);
    switch (event.type) {
      case 'call':
        this.language = event.language;
        return;
      case 'failure':
        return void this.failures.push(event.message);
      case 'warning':
        return void this.warnings.push(event.message);
      case 'plays':
        return void this.plays.push(event.source);
      case 'opted-out':
        this.optOut = event.kind;
        return;
      case 'action':
        return this.#action(event);
      case 'caller':
      case 'unheard':
      case 'understood':
      case 'says':
      case 'cut':
      case 'answered-by':
      case 'end':
        return;
    }
  };

  #action({ action }: ChatEvent & { readonly type: 'action' }): void {
    switch (action.type) {
      case 'step':
        return void this.steps.push(...(action.through ?? []), action.name);
      case 'gather':
        this.#kind = action.contract?.kind;
        return;
      case 'transfer':
        return void this.transfers.push(action.to);
      case 'digits':
        this.keys += action.digits;
        return;
      case 'language':
        this.language = action.language;
        return;
      case 'bot':
        this.bot = action.name;
        return;
      case 'call-back':
        this.callBack = action.at ?? '';
        return;
      case 'set':
      case 'note':
      case 'listen':
      case 'fail-over':
      case 'recording':
      case 'cancel-transfer':
      case 'usage':
      case 'hangup':
        return;
    }
  }
}

/** What is known of a call that is over. */
export function evidenceOf(
  record: CallRecord,
  watch: CallObserver,
  { world, dispositionOf, costOf }: Pick<Rehearsal, 'world' | 'dispositionOf' | 'costOf'>,
): Evidence {
  const { endReason, variables, notes, interruptions, falseAlarms } = record;
  const { failures, warnings, plays, transfers, steps, keys, bot, language, callBack, optOut } = watch;
  return {
    lines: linesOf(record),
    end: endReason,
    disposition: record.direction === 'outbound' ? dispositionOf(record) : undefined,
    variables,
    notes,
    steps,
    transfers,
    keys,
    plays,
    bot,
    language,
    callBack,
    optOut,
    requests: world.seen,
    turns: callerTurns(record),
    interruptions: interruptions.length,
    interruptionsIgnored: falseAlarms,
    cutOffs: watch.cutOffs,
    cost: costOf?.(record),
    times: timesOf(record),
    failures,
    problems: [...watch.problems, ...[...world.unanswered].map((request) => `no mock answers ${request}`)],
    warnings,
  };
}
