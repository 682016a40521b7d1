import type { CallRecord } from '../../call/log/call-record.ts';
import type { Bot } from '../../config/bots.ts';
import { flowOf } from '../../dialog/bot-dialog.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';
import type { ChatEvent } from '../chat/chat-event.ts';
import { Conversation } from '../chat/conversation.ts';
import { saidIn } from '../chat/expectation.ts';
import { type ChatGateway, openChat } from '../chat/open-chat.ts';
import type { ScriptSettings } from '../chat/script.ts';
import { callerTurns, type Evidence, linesOf, nothingOf, timesOf } from './evidence.ts';
import type { MockedWorld } from './mocked-world.ts';
import type { Caller, CallerMoment } from './scripted-caller.ts';
import type { ScenarioDocument, SuiteDocument } from './suite-schema.ts';

/** A call that is rehearsed: who calls whom, and the servers around it. */
export interface Rehearsal {
  readonly gateway: ChatGateway;
  readonly bot: Bot;
  readonly suite: Pick<SuiteDocument, 'at' | 'mocks'>;
  readonly scenario: Pick<ScenarioDocument, 'at' | 'call' | 'caller' | 'mocks'>;
  readonly seed: number;
  readonly caller: Caller;
  readonly world: MockedWorld;
  /** Longest real time of one answer of the bot. */
  readonly deadlineMs: number;
  /** What a campaign counts an ended call as. */
  readonly dispositionOf: (record: CallRecord) => string | undefined;
}

/** Plays a scenario in text: the real session on virtual time. Never rejects for what the bot does. */
export async function rehearseInText(rehearsal: Rehearsal): Promise<Evidence> {
  const { world, bot, scenario, gateway, deadlineMs } = rehearsal;
  const watch = new TextObserver(bot, await stepSlots(bot));
  const conversation = new Conversation(watch.take);
  const settings = settingsOf(rehearsal);
  try {
    return await world.run(async () => {
      await using call = await openChat(gateway, settings, deadlineMs, conversation.take, {
        closed: world.isClosed || gateway.bots.every(isAlone),
        patienceMs: scenario.caller.patience.waitMs,
        prepare: (each) => world.prepare(each),
        begins: (time) => world.begins(time),
      });
      await conversation.open(call);
      await talk(rehearsal.caller, conversation, watch);
      // What the bot does when the caller hangs up belongs to the call.
      await conversation.act({ kind: 'hang-up' });
      if (call.record === undefined) throw new Error('the call left no record');
      return evidenceOf(call.record, watch, rehearsal);
    });
  } catch (error) {
    const { failures, warnings } = watch;
    return { ...nothingOf(bot, errorTextWithCause(error)), failures, warnings };
  }
}

/** Lets the caller act until the call is over, or they have nothing to do. */
async function talk(caller: Caller, conversation: Conversation, watch: TextObserver): Promise<void> {
  while (!conversation.isOver) {
    const next = await caller.next(watch.moment(conversation.slots));
    if ('stuck' in next) return void watch.problems.push(next.stuck);
    watch.acts();
    await conversation.act(next.act);
    if (next.act.kind === 'hang-up') return;
  }
}

/** Whether a bot asks nothing outside of the process. */
function isAlone({ dialog, serverUrl }: Bot): boolean {
  return dialog.kind === 'flow' && serverUrl === undefined;
}

function settingsOf({ bot, suite, scenario: { at, call } }: Rehearsal): ScriptSettings {
  const { from, to, language, outbound, variables } = call;
  const parameter = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return {
    bot: bot.name,
    at: at ?? suite.at,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(language === undefined ? {} : { language }),
    ...(outbound ? { outbound, parameter } : {}),
  };
}

/** The slot that each step of a flow asks for. */
async function stepSlots({ dialog, ...bot }: Bot): Promise<ReadonlyMap<string, string>> {
  if (dialog.kind !== 'flow') return new Map();
  const { flow } = await flowOf({ ...bot, dialog }, dialog);
  return new Map(
    Object.entries(flow.states).flatMap(([name, { ask }]) => (ask === undefined ? [] : [[name, ask.slot] as const])),
  );
}

/** Watches a call in text: what the caller sees as their turn comes, and what the record does not say. */
class TextObserver {
  readonly failures: string[] = [];
  readonly warnings: string[] = [];
  readonly problems: string[] = [];
  readonly plays: string[] = [];
  readonly transfers: string[] = [];
  readonly steps: string[] = [];
  keys = '';
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
      case 'hangup':
        return;
    }
  }
}

function evidenceOf(record: CallRecord, watch: TextObserver, { world, dispositionOf }: Rehearsal): Evidence {
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
    times: timesOf(record),
    failures,
    problems: [...watch.problems, ...[...world.unanswered].map((request) => `no mock answers ${request}`)],
    warnings,
  };
}
