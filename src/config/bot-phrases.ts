import { z } from 'zod';

const sentence = z.string().min(1).max(1000).optional();
/** One that says what the call has to say: it cannot be worded away. */
const sentenceWith = (placeholder: string) =>
  z
    .string()
    .min(1)
    .max(1000)
    .regex(new RegExp(`\\{${placeholder}\\}`, 'u'), `a sentence with {${placeholder}} in it`)
    .optional();

/** Sentences that must be ready before anything fails: a caller hears them when the platform or the dialog is gone. */
export const botPhrases = z.strictObject({
  /** Something broke and the call ends. */
  apology: sentence,
  /** No free line. */
  overflow: sentence,
  /** The dialog had no answer; the caller is asked to say it again. */
  sayAgain: sentence,
  /** Nothing was heard. */
  noInput: sentence,
  /** The longest duration of a call is reached, or nothing was heard too often. */
  goodbye: sentence,
  /** Covers a wait while the caller's words or the dialog's answer are late. */
  oneMoment: sentence,
  /** The call will soon reach its longest duration. */
  timeIsShort: sentence,
  /** No bot answers this number. */
  nobody: sentence,
  /** Said when the gateway stops: to live calls whose time is up, and to refused new ones. */
  shutdown: sentence,
  /** The person wants no more calls. */
  optedOut: sentence,
  /** Said when the called person is not there, now or ever. */
  wrongNumber: sentence,
  /** Outbound calls, where the dialling profile asks for it: that a machine calls, and for whom. */
  disclosure: sentenceWith('name'),
  /** How the person refuses further calls. */
  optOutHow: sentenceWith('key'),
  /** The number that takes such requests. */
  callbackNumber: sentenceWith('number'),
  /** The same, at the end of a message on a mailbox. */
  optOutOnMailbox: sentenceWith('number'),
  /** Said to a caller who waits while an agent is rung. */
  stillConnecting: sentence,
  /** Said to a caller in an agent's queue: their place, and that they are first. */
  queuePlace: sentenceWith('place'),
  queueNext: sentence,
  /** Said when an operator gives the call back to the bot. */
  backAgain: sentence,
  /** The process that had the call died, and another one goes on with it. */
  lostYou: sentence,
  /** How the agent takes the call, said behind the brief. */
  agentKeys: sentenceWith('accept'),
  /** Said when the bot's server is down, before another bot goes on. */
  downBot: sentence,
  /** Before such a caller is connected to a person. */
  downTransfer: sentence,
  /** Asks such a caller for a message. */
  leaveMessage: sentence,
  /** They have left one. */
  messageTaken: sentence,
  offerCallBack: sentence,
  /** They want one. */
  callBackPromised: sentence,
});

export interface PhraseSet {
  readonly apology: string;
  readonly overflow: string;
  readonly sayAgain: string;
  readonly noInput: string;
  readonly goodbye: string;
  readonly oneMoment: string;
  readonly timeIsShort: string;
  readonly nobody: string;
  readonly shutdown: string;
  readonly optedOut: string;
  readonly wrongNumber: string;
  readonly disclosure: string;
  readonly optOutHow: string;
  readonly callbackNumber: string;
  readonly optOutOnMailbox: string;
  readonly stillConnecting: string;
  readonly queuePlace: string;
  readonly queueNext: string;
  readonly backAgain: string;
  readonly lostYou: string;
  readonly agentKeys: string;
  readonly downBot: string;
  readonly downTransfer: string;
  readonly leaveMessage: string;
  readonly messageTaken: string;
  readonly offerCallBack: string;
  readonly callBackPromised: string;
}

const english: PhraseSet = {
  apology: 'Sorry, something went wrong on our side. Please call again later. Goodbye.',
  overflow: 'Sorry, all our lines are busy. Please call again in a few minutes. Goodbye.',
  sayAgain: 'Sorry, I did not get that. Please say it again.',
  noInput: 'Sorry, I did not hear anything. Are you still there?',
  goodbye: 'Thank you for calling. Goodbye.',
  oneMoment: 'One moment, please.',
  timeIsShort: 'We have about a minute left.',
  nobody: 'Sorry, this number is not in service. Goodbye.',
  shutdown: 'Sorry, we have to end the call here. Please call again in a few minutes. Goodbye.',
  optedOut: 'All right, we will not call you again. Goodbye.',
  wrongNumber: 'Sorry for the trouble. We will not call this number again. Goodbye.',
  disclosure: 'This is an automated call from {name}.',
  optOutHow: 'Say stop or press {key} to not be called again.',
  callbackNumber: 'You can also call us at {number}.',
  optOutOnMailbox: 'To not be called again, call {number}.',
  stillConnecting: 'I am still connecting you. Please stay on the line.',
  queuePlace: 'You are number {place} in the queue.',
  queueNext: 'You are next. Please stay on the line.',
  backAgain: 'Thank you. I am with you again.',
  lostYou: 'Sorry, I lost you for a moment.',
  agentKeys: 'Press {accept} to take the call, or {decline} to decline.',
  downBot: 'Sorry, a part of our system is not answering. I can still help you.',
  downTransfer: 'Sorry, a part of our system is not answering. I am connecting you to a colleague.',
  leaveMessage: 'Sorry, our system is not answering. Please leave a message now, and press the hash key when you have finished.',
  messageTaken: 'Thank you, we have your message. Goodbye.',
  offerCallBack: 'Sorry, our system is not answering. Shall we call you back on this number?',
  callBackPromised: 'Thank you. We will call you back. Goodbye.',
};

const hindi: PhraseSet = {
  apology: 'माफ़ कीजिए, हमारी ओर कुछ गड़बड़ हो गई। कृपया बाद में फ़ोन करें। नमस्ते।',
  overflow: 'माफ़ कीजिए, अभी सभी लाइनें व्यस्त हैं। कृपया कुछ मिनट बाद फ़ोन करें। नमस्ते।',
  sayAgain: 'माफ़ कीजिए, मैं समझ नहीं पाई। कृपया फिर से कहिए।',
  noInput: 'माफ़ कीजिए, कुछ सुनाई नहीं दिया। क्या आप लाइन पर हैं?',
  goodbye: 'फ़ोन करने के लिए धन्यवाद। नमस्ते।',
  oneMoment: 'एक पल रुकिए।',
  timeIsShort: 'हमारे पास क़रीब एक मिनट बचा है।',
  nobody: 'माफ़ कीजिए, यह नंबर सेवा में नहीं है। नमस्ते।',
  shutdown: 'माफ़ कीजिए, हमें यह कॉल यहीं समाप्त करनी होगी। कृपया कुछ मिनट बाद फिर से फ़ोन करें। नमस्ते।',
  optedOut: 'ठीक है, अब हम आपको फ़ोन नहीं करेंगे। नमस्ते।',
  wrongNumber: 'माफ़ कीजिए। इस नंबर पर अब हमारा फ़ोन नहीं आएगा। नमस्ते।',
  disclosure: 'यह {name} की ओर से एक स्वचालित कॉल है।',
  optOutHow: 'दोबारा कॉल न पाने के लिए बंद करो बोलिए, या {key} दबाइए।',
  callbackNumber: 'आप हमें {number} पर भी फ़ोन कर सकते हैं।',
  optOutOnMailbox: 'दोबारा कॉल न पाने के लिए {number} पर फ़ोन कीजिए।',
  stillConnecting: 'मैं अभी आपको जोड़ रही हूँ। कृपया लाइन पर बने रहिए।',
  queuePlace: 'आप क़तार में नंबर {place} पर हैं।',
  queueNext: 'अगली बारी आपकी है। कृपया लाइन पर बने रहिए।',
  backAgain: 'धन्यवाद। मैं फिर से आपके साथ हूँ।',
  lostYou: 'माफ़ कीजिए, एक पल के लिए आपकी आवाज़ नहीं आई।',
  agentKeys: 'कॉल लेने के लिए {accept} दबाइए, या मना करने के लिए {decline}।',
  downBot: 'माफ़ कीजिए, हमारे सिस्टम का एक हिस्सा जवाब नहीं दे रहा। मैं फिर भी आपकी मदद कर सकती हूँ।',
  downTransfer: 'माफ़ कीजिए, हमारे सिस्टम का एक हिस्सा जवाब नहीं दे रहा। मैं आपको एक सहकर्मी से जोड़ रही हूँ।',
  leaveMessage: 'माफ़ कीजिए, हमारा सिस्टम जवाब नहीं दे रहा। कृपया अपना संदेश अभी बोलिए, और पूरा होने पर हैश दबाइए।',
  messageTaken: 'धन्यवाद, आपका संदेश हमें मिल गया है। नमस्ते।',
  offerCallBack: 'माफ़ कीजिए, हमारा सिस्टम जवाब नहीं दे रहा। क्या हम आपको इस नंबर पर वापस फ़ोन करें?',
  callBackPromised: 'धन्यवाद। हम आपको वापस फ़ोन करेंगे। नमस्ते।',
};

/** The built-in sentences of a language; English for others. */
export function defaultPhrases(language: string): PhraseSet {
  return language.split('-')[0] === 'hi' ? hindi : english;
}

/** Puts values in the place of `{name}` and its kin. */
export function fillPhrase(phrase: string, values: Readonly<Record<string, string>>): string {
  return phrase.replaceAll(/\{(\w+)\}/gu, (whole, name: string) => values[name] ?? whole);
}
