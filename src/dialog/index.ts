/** `offhook/bot`: for bots written in code, and for the tests of any bot. */
export { z } from 'zod';
export { type BotFunction, defineBot, defineTool, type ToolContext, type ToolDefinition } from './define-bot.ts';
export { rehearse, type Rehearsal, type RehearsalOptions, type Reply } from './rehearsal.ts';
export type { CallFacts, DialogAction, DialogTurn, HistoryEntry, TurnInput } from './port.ts';
export type { AnswerContract, AnswerReading } from '../language/index.ts';
