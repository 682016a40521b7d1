import type { Bot } from '../../config/bots.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';
import { Conversation } from '../chat/conversation.ts';
import { openChat } from '../chat/open-chat.ts';
import type { ScriptSettings } from '../chat/script.ts';
import { CallObserver, evidenceOf, stepSlots } from './call-observer.ts';
import { type Evidence, nothingOf } from './evidence.ts';
import type { Rehearsal } from './rehearsal.ts';
import type { Caller } from './caller.ts';

/** Plays a scenario in text: the real session on virtual time. Never rejects for what the bot does. */
export async function rehearseInText(rehearsal: Rehearsal): Promise<Evidence> {
  const { world, bot, scenario, gateway, deadlineMs } = rehearsal;
  const watch = new CallObserver(bot, await stepSlots(bot));
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
async function talk(caller: Caller, conversation: Conversation, watch: CallObserver): Promise<void> {
  while (!conversation.isOver) {
    const next = await caller.next(watch.moment(conversation.slots));
    if ('stuck' in next) return void watch.problems.push(next.stuck);
    watch.acts();
    await conversation.act(next.act);
    if (next.act.kind === 'hang-up') return;
  }
}

/** Whether a bot asks nothing outside of the process. */
export function isAlone({ dialog, serverUrl }: Bot): boolean {
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
