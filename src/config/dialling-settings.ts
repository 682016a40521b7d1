import { z } from 'zod';
import { flag, millis, minute, optionalText, settingFacts, text, whole } from './setting.ts';

/** In the currency of `dialling.prices`. */
const cost = (description: string) => z.number().min(0).max(1_000_000_000).optional().register(settingFacts, { description });

/** Settings of outbound calls and of transfer targets. */
export const diallingSettings = z.object({
  folder: text('config/dialling', 'Folder of dialling profiles, one YAML file each; shipped profiles need no file'),
  profile: text('none', 'Dialling profile of all calls; to choose another one takes the scope dialling:rules (docs/dialling.md)'),
  zoneSource: z.enum(['number', 'given']).default('number').register(settingFacts, {
    description:
      'Whose hours count for a call or contact that comes with a time zone: number: those of the number and of the zone; given: those of the zone alone',
  }),
  destinations: text(
    'home',
    'Where calls may go, separated by commas: home (the countries of the caller ids and of the profile), any, countries such as GB, and beginnings of numbers such as +8816, which satellite and premium-rate numbers need',
  ),
  callsPerDay: whole(1, 10_000_000, 10_000, 'Calls of one tenant in a day of UTC, unless the tenant has its own', {
    unit: 'calls',
  }),
  callsPerDayOfKey: whole(1, 10_000_000, 1000, 'Calls in a day of UTC that one API key or person asks for, campaigns included', {
    unit: 'calls',
  }),
  prices: optionalText('CSV file of prices with the columns prefix, per_minute and per_call, in one currency (docs/dialling.md)'),
  expectedMinutes: z.number().min(0.1).max(1440).default(3).register(settingFacts, {
    description: 'Length of a call for the estimate of its cost',
    unit: 'minutes',
  }),
  costPerDay: cost('Estimated cost of the calls of one tenant in a day of UTC, unless the tenant has its own; unset: no limit'),
  costPerDayOfKey: cost('Estimated cost of the calls that one API key or person asks for in a day of UTC; unset: no limit'),
  alarmFactor: z.number().min(1).max(1000).default(3).register(settingFacts, {
    description: 'An alarm is raised when a tenant has called so many times as often today as on a usual day of the week before',
  }),
  alarmCalls: whole(1, 10_000_000, 100, 'Calls in a day below which no alarm is raised', { unit: 'calls' }),
  callerIds: optionalText(
    'Numbers that outbound calls may come from, in E.164, separated by commas; +91140* is a series, +14155550100@twilio a number of that carrier',
  ),
  defaultRegion: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .optional()
    .register(settingFacts, { description: 'Country of numbers that are written without +, for example IN' }),
  carrier: optionalText('Carrier of outbound calls whose caller id names none; needed where several have an account'),
  callsPerSecond: z.number().min(0.01).max(1000).default(1).register(settingFacts, {
    description: 'New outbound calls a second at one carrier account',
    unit: 'calls/s',
  }),
  concurrency: whole(1, 10_000, 100, 'Concurrent outbound calls at one carrier account, ringing ones included', {
    unit: 'calls',
  }),
  callerIdCallsPerSecond: z.number().min(0.01).max(1000).default(1000).register(settingFacts, {
    description: 'New campaign calls a second from one caller ID',
    unit: 'calls/s',
  }),
  callerIdConcurrency: whole(1, 10_000, 10_000, 'Concurrent campaign calls from one caller ID', { unit: 'calls' }),
  keepFree: whole(0, 10_000, 2, 'Places of call.maximum that outbound calls leave to callers', { unit: 'calls' }),
  ringTimeoutMs: millis(5000, 2 * minute, 30_000, 'Time an outbound call rings before it is given up'),
  detectMachine: flag(false, 'Have the carrier say whether a machine answered, where it can; carriers charge for that'),
  identityName: optionalText('Name of the business that outbound calls are made for, as the bot says it'),
  callbackNumber: z
    .string()
    .regex(/^\+[1-9]\d{6,14}$/)
    .optional()
    .register(settingFacts, { description: 'Number in E.164 that the bot gives for requests not to be called' }),
});
