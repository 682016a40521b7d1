import { z } from 'zod';
import type { Message } from '../../dialog/llm/model-request.ts';
import { type EvalModel, EvalModelError } from './eval-model.ts';
import type { Caller, CallerMoment, NextAct } from './caller.ts';
import type { CallerDocument, PersonaDocument } from './suite-schema.ts';

const KEYS = /^[\d*#]{1,64}$/u;
const answer = z.union([
  z.object({ say: z.string().min(1).max(1000) }),
  z.object({ press: z.string().regex(KEYS) }),
  z.object({ silence: z.literal(true) }),
  z.object({ hangUp: z.literal(true) }),
]);

/** A caller that a model plays, with a goal and facts. Turns and tokens are bounded. */
export class PersonaCaller implements Caller {
  readonly unused: readonly number[] = [];
  readonly #model: EvalModel;
  readonly #mostTurns: number;
  readonly #messages: Message[];
  #turns = 0;

  constructor(persona: PersonaDocument, { patience }: Pick<CallerDocument, 'patience'>, language: string, model: EvalModel) {
    this.#model = model;
    this.#mostTurns = patience.turns;
    this.#messages = [{ role: 'system', content: instructionsOf(persona, language) }];
  }

  async next({ said }: CallerMoment): Promise<NextAct> {
    if (this.#turns >= this.#mostTurns)
      return { stuck: `the caller gave up after ${this.#mostTurns} turns of their own; the bot said last: "${said}"` };
    this.#turns += 1;
    this.#messages.push({ role: 'user', content: said === '' ? '(The bot says nothing.)' : said });
    try {
      const act = await this.#model.ask(this.#messages, answer);
      this.#messages.push({ role: 'assistant', content: JSON.stringify(act) });
      if ('say' in act) return { act: { kind: 'say', text: act.say } };
      if ('press' in act) return { act: { kind: 'press', keys: act.press } };
      return { act: { kind: 'silence' in act ? 'silence' : 'hang-up' } };
    } catch (error) {
      if (error instanceof EvalModelError) return { stuck: `the caller: ${error.message}` };
      throw error;
    }
  }
}

function instructionsOf({ goal, facts, manner }: PersonaDocument, language: string): string {
  const known = Object.entries(facts).map(([name, value]) => `- ${name}: ${value}`);
  return [
    'You play a person who makes a phone call; the messages are what the voice bot at the other end says. You are the caller, and never the bot.',
    `Your goal: ${goal}`,
    known.length === 0 ? 'You know nothing else.' : `What you know, and nothing beyond it:\n${known.join('\n')}`,
    'Invent no names, numbers, days or times. Asked for what you do not know, say that you do not know it.',
    ...(manner === undefined ? [] : [`How you talk: ${manner}`]),
    `Speak the language "${language}", in one short spoken sentence at a time.`,
    'Answer with one JSON object alone: {"say": "words"}, {"press": "keys 0-9 * #"}, {"silence": true}, or {"hangUp": true} when your goal is reached or cannot be.',
  ].join('\n');
}
