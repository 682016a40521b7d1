/** A word of any script, with marks, apostrophes and hyphens inside; no punctuation and no asterisks. */
const wordPattern = /[\p{L}\p{N}][\p{L}\p{M}\p{N}\u200c\u200d]*(?:['’-][\p{L}\p{N}][\p{L}\p{M}\p{N}\u200c\u200d]*)*/gu;

/** The words of a text, in lower case. */
export function wordsOf(text: string): string[] {
  return (text.match(wordPattern) ?? []).map((word) => word.toLowerCase().replaceAll('’', "'").normalize('NFC'));
}

const endings = ['ations', 'ation', 'ments', 'ment', 'ings', 'ing', 'ies', 'ied', 'ed', 'es', 's', 'e', 'y'];

/** The stem of an English word: `booked` and `booking` have one. Other words keep their letters. */
export function stem(word: string): string {
  const ending = endings.find((end) => word.endsWith(end) && word.length - end.length >= 3);
  const rest = ending === undefined ? word : word.slice(0, -ending.length);
  return /([b-df-hj-np-tv-z])\1$/.test(rest) ? rest.slice(0, -1) : rest;
}

/** Stop words, English and Hindi. */
const stopWords = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can could
  did do does doing done down during each else ever every few for from further get gets getting go goes going gonna got had has
  have having he hello her here hers hi him his how i i'd i'll i'm i've if in into is it it's its just kindly know let let's like
  may maybe me might mine more most much must my need no nor not now of off oh ok okay on once one only or other our ours out over
  own please put really said same say says see shall she should so some such take tell than thank thanks that that's the their
  them then there there's these they they're this those through to too under until up upon us very want wanted wants was we we'd
  we'll we're well were what what's when where which while who whom why will with would yeah yes yet you you'd you'll you're your
  yours don't doesn't didn't can't couldn't won't isn't aren't wasn't
  और अगर अपना अपनी अपने अब अभी आप आपका आपकी आपके आपको इस इसका इसकी इसके इसको इसे इन उन उनका उनकी उनके उनको उस उसका उसकी उसके उसको
  उसे एक ऐसा ऐसे कब कभी कर करता करती करते करना करने करें करो का कि किस किसी की कुछ के को कौन क्या क्यों कृपया गई गए गया गयी चाहता
  चाहती चाहते चाहिए जब जहाँ जा जाए जाता जाती जाते जी जैसे जो तक तब तुम तो था थी थे दिया दी दीजिए दे देना देने दो न नहीं ना ने पर फिर
  बस बहुत बाद भी मगर मत मुझको मुझे में मेरा मेरी मेरे मैं मैंने यह यहाँ या ये रहा रही रहे लिए लेकिन लेना व वह वहाँ वाला वाली वाले वे
  वो सब सभी साथ से हम हमारा हमारी हमारे हमें हर हाँ ही हुआ हुई हुए हूँ है हैं हो होगा होगी होता होती होते होना`
    .split(/\s+/)
    .map((word) => word.normalize('NFC')),
);

export function isStopWord(word: string): boolean {
  return stopWords.has(word);
}
