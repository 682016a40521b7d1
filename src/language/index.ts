// What the rest of Offhook uses of this folder: the linter refuses any other import of it from outside.

// What an answer may be (a contract), what was read of it so far, and how it is said back.
export { type AnswerContract, answerContract, checkKind, codePattern } from './contract/contract.ts';
export { answerContext } from './contract/reading.ts';
export { type AnswerContext, type AnswerReading, complete, impossible } from './contract/reading.ts';
export { isSecure, readAnswer, readParts } from './contract/read-answer.ts';
export { type ContractInput, type ContractState, type ContractStep, startContract } from './contract/contract-step.ts';
export { contractStep } from './contract/contract-step.ts';
export { contractHints } from './contract/hints.ts';
export { mostKeys } from './contract/most-keys.ts';
export { sayAnswer } from './contract/say-answer.ts';

// Values in a caller's words: each reader takes tokens and says what it found and where.
export { LANGUAGES, type Language, languageOf } from './understand/tokens.ts';
export { type Found, findPhrase, isMadeOf, phraseTable, tokenise } from './understand/tokens.ts';
export { type YesNo, findAgreement, findYesNo } from './understand/yes-no.ts';
export { findChoice } from './understand/tokens.ts';
export { findDay } from './understand/find-day.ts';
export { findTime, timeOfKeys } from './understand/time.ts';
export { numberAt } from './understand/numbers.ts';
export { findDigits } from './understand/digits.ts';
export { amountOf, findMoney, moneyWords, sayMoney } from './understand/money.ts';
export { type SaidSymbol, codeRuns, digitRuns } from './understand/said-symbols.ts';
export { withoutCardNumbers, withoutLongNumbers } from './understand/check-digits.ts';
export { type OptOut, readOptOut } from './understand/opt-out.ts';
export { isAngry, saysNotUnderstood } from './understand/moods.ts';
export { momentOf, readCallBack, sayCallBack } from './understand/call-back.ts';
export { ASKING_AGAIN } from './understand/yes-no.ts';

// Days and times, and values as words to speak.
export { type CalendarDay, WEEKDAYS, calendarDay, dayInZone, weekdayOf } from './understand/calendar.ts';
export { type ClockTime, DAYTIME, type TimeWindow, inWindow, minutesOf } from './understand/time.ts';
export { sayDay } from './understand/calendar.ts';
export { sayTime } from './understand/time.ts';
export { sayDigits } from './understand/digits.ts';
