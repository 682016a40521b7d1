import { z } from 'zod';

const sentence = z.string().min(1).max(1000).optional();

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
  /** The gateway stops: said to live calls whose time is up, and to new ones that it does not take any more. */
  shutdown: sentence,
  /** The person wants no more calls. */
  optedOut: sentence,
  /** The person who was called is not there, now and later. */
  wrongNumber: sentence,
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
};

/** The built-in sentences of a language; English where there are none. */
export function defaultPhrases(language: string): PhraseSet {
  return language.split('-')[0] === 'hi' ? hindi : english;
}
