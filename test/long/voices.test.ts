import { describe, expect, it } from 'vitest';
import { resample } from '../../src/audio/resample.ts';
import { rmsLevelDb } from '../../src/audio/level.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { LatexReader } from '../../src/platform/engines/latex/latex-reader.ts';
import { SynthesisRefusedError } from '../../src/platform/engines/synth/port.ts';
import { forPitch, pitchAt } from '../../src/platform/engines/speakers/voice-features.ts';
import { startSynthesizer } from '../../src/platform/engines/synth/synthesizer.ts';
import { voices } from '../../src/platform/engines/synth/voices.ts';
import { shared } from '../support/shared.ts';

/** "Hello, how can I help you?", or about that, in each language; in two scripts where both are in use. */
const greetings = [
  ['as', 'নমস্কাৰ, মই আপোনাক কেনেকৈ সহায় কৰিব পাৰোঁ?'],
  ['bn', 'নমস্কার, আমি আপনাকে কীভাবে সাহায্য করতে পারি?'],
  ['brx', 'नमस्कार, आं नोंथांनो माबोरै हेफाजाब होनो हागोन?'],
  ['doi', 'नमस्कार, मैं तुंदी केह् मदद करी सकनां?'],
  ['en', 'Hello, how can I help you with your appointment today?'],
  ['gu', 'નમસ્તે, હું તમારી કેવી રીતે મદદ કરી શકું?'],
  ['hi', 'नमस्ते, मैं आपकी क्या मदद कर सकता हूँ?'],
  ['kn', 'ನಮಸ್ಕಾರ, ನಾನು ನಿಮಗೆ ಹೇಗೆ ಸಹಾಯ ಮಾಡಬಹುದು?'],
  ['ks', 'آداب، بہٕ کِتھ پٲٹھؠ ہیکہٕ تُہٕنٛز مدد کٔرِتھ؟'],
  ['kok', 'नमस्कार, हांव तुमकां कशी मजत करूं येता?'],
  ['mai', 'प्रणाम, हम अहाँक की सहायता कऽ सकैत छी?'],
  ['ml', 'നമസ്കാരം, എനിക്ക് നിങ്ങളെ എങ്ങനെ സഹായിക്കാനാകും?'],
  ['mni', 'ꯈꯨꯔꯨꯝꯖꯔꯤ, ꯑꯩꯅ ꯅꯍꯥꯛꯄꯨ ꯀꯔꯝꯅ ꯃꯇꯦꯡ ꯄꯥꯡꯕ ꯌꯥꯒꯅꯤ?'],
  ['mni', 'খুরুমজরি, ঐনা নহাকপু করমনা মতেং পাংবা য়াগনি?'],
  ['mr', 'नमस्कार, मी तुमची कशी मदद करू शकतो?'],
  ['ne', 'नमस्ते, म तपाईंलाई कसरी मद्दत गर्न सक्छु?'],
  ['or', 'ନମସ୍କାର, ମୁଁ ଆପଣଙ୍କୁ କିପରି ସାହାଯ୍ୟ କରିପାରିବି?'],
  ['pa', 'ਸਤ ਸ੍ਰੀ ਅਕਾਲ, ਮੈਂ ਤੁਹਾਡੀ ਕਿਵੇਂ ਮਦਦ ਕਰ ਸਕਦਾ ਹਾਂ?'],
  ['sa', 'नमस्ते, अहं भवतः कथं साहाय्यं कर्तुं शक्नोमि?'],
  ['sat', 'ᱡᱚᱦᱟᱨ, ᱤᱧ ᱟᱢ ᱪᱮᱫ ᱞᱮᱠᱟ ᱜᱚᱲᱚ ᱫᱟᱲᱮᱭᱟᱢ ᱟ?'],
  ['sd', 'سلام، مان توهان جي ڪهڙي مدد ڪري سگهان ٿو؟'],
  ['sd', 'नमस्ते, मां तव्हां जी कहिड़ी मदद करे सघां थो?'],
  ['ks', 'आदाब, ब किथ पॉठ्य ह्यकॖ तुहुंज़ मदद कॅरिथ?'],
  ['ta', 'வணக்கம், நான் உங்களுக்கு எப்படி உதவ முடியும்?'],
  ['te', 'నమస్కారం, నేను మీకు ఎలా సహాయం చేయగలను?'],
  ['ur', 'السلام علیکم، میں آپ کی کیا مدد کر سکتا ہوں؟'],
] as const;

const synthesizer = shared(() => startSynthesizer({ clock: systemClock, logger: silentLogger }));

async function speak(text: string, voice: string, language?: string, speed = 1): Promise<{ pcm: Int16Array; seconds: number }> {
  const samples: number[] = [];
  let rate = 1;
  for await (const { pcm, rateHz } of synthesizer.synthesize({ text, voice, language, speed }, new AbortController().signal)) {
    samples.push(...pcm);
    rate = rateHz;
  }
  return { pcm: resample(Int16Array.from(samples), rate, 8000), seconds: samples.length / rate };
}

function medianPitch(pcm: Int16Array): number {
  const samples = forPitch(pcm);
  const heard: number[] = [];
  for (let at = 0; at < samples.length; at += 320) heard.push(pitchAt(samples, at) ?? 0);
  const voiced = heard.filter((hz) => hz > 0).toSorted((a, b) => a - b);
  return voiced[voiced.length >> 1] ?? 0;
}

describe('the 46 voices', () => {
  it.each(greetings)('of %s read %s at the pace of speech, a woman above a man', async (language, text) => {
    const letters = text.match(/[\p{L}\p{M}]/gu)!.length;
    const pair = voices.filter((voice) => voice.language === language);
    expect(pair).toHaveLength(2);
    const pitches = new Map<string, number>();
    for (const { name, gender } of pair) {
      const { pcm, seconds } = await speak(text, name);
      expect(seconds / letters).toBeGreaterThan(0.06);
      expect(seconds / letters).toBeLessThan(0.15);
      pitches.set(gender, medianPitch(pcm));
    }
    expect(pitches.get('female')! / pitches.get('male')!).toBeGreaterThan(1.2);
  });

  it.each(greetings)('of %s speak a formula in its words', async (language) => {
    await using reader = new LatexReader(systemClock);
    const { text } = await reader.read('$\\frac{x^2 + 21}{\\sqrt{y}} \\le 3$', language, language);
    if (language !== 'en') expect(text).not.toMatch(/[a-z\d]/iu);
    const { pcm, seconds } = await speak(text, voices.find((voice) => voice.language === language)!.name, language);
    expect(seconds).toBeGreaterThan(1);
    expect(rmsLevelDb(pcm)).toBeGreaterThan(-35);
  });

  it('read one script as the language asks: Hindi and Marathi differ [168]', async () => {
    // "125 rupees": the number is words of another language.
    const lengthOf = async (code?: string) => (await speak('१२५ रुपये', 'Rajesh', code)).seconds;
    const [hindi, marathi, inferred] = [await lengthOf('hi'), await lengthOf('mr'), await lengthOf()];
    expect(inferred).toBeCloseTo(hindi, 2);
    expect(marathi - hindi).toBeGreaterThan(0.1);
  });

  it.each([
    { what: 'a script that would be spelled out', text: 'ສະບາຍດີ ທ່ານ ສະບາຍດີ', language: undefined },
    { what: 'a language without an engine', text: 'Sawubona unjani namhlanje', language: 'zu' },
  ])('refuse $what', async ({ text, language }) => {
    await expect(speak(text, 'Rajesh', language)).rejects.toThrow(SynthesisRefusedError);
  });
});
