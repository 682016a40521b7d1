import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnalysisPart, AnalysisRequest } from '../../../../../src/platform/engines/analyse/port.ts';
import { builtInAnalyser } from '../../../../../src/platform/engines/analyse/built-in-analyser.ts';
import { editDistance, Glossary } from '../../../../../src/platform/engines/analyse/glossary.ts';
import { medicalCorrections } from '../../../../../src/platform/engines/analyse/normalise.ts';
import { rewriteText } from '../../../../../src/platform/engines/script/codeswitch.ts';

const { signal } = new AbortController();
const analyse = (utterances: string[], parts: AnalysisPart[], more: Partial<AnalysisRequest> = {}) =>
  builtInAnalyser.analyse(
    { utterances, language: 'en', parts: new Set(parts), intentChoices: [], summaryMaxWords: 150, glossary: [], ...more },
    signal,
  );

describe('the built-in intent', () => {
  it.each([
    ["I'd like to book an appointment for Tuesday", 'book_appointment'],
    ['please cancel my appointment', 'cancel_booking'],
    ['I was charged twice on my invoice', 'payment_billing'],
    ['the internet is not working again', 'technical_support'],
    ['let me speak to a person', 'speak_to_person'],
    ['मुझे अपॉइंटमेंट चाहिए', 'book_appointment'],
    ['मेरा पैसा वापस चाहिए', 'refund'],
    ['मुझे बुखार और सिर में दर्द है', 'medical_concern'],
    ['the cat sat on the mat', 'other'],
  ])('%s: %s', async (text, intent) => expect(await analyse([text], ['intent'])).toEqual({ intent }));

  it.each([
    ['I want to book a room', ['complaint', 'BookAppointment'], 'BookAppointment'],
    ['someone charged my card twice', ['scheduling', 'billing question'], 'billing question'],
    ['the cat sat on the mat', ['sales', 'Other'], 'Other'],
    ['the cat sat on the mat', ['sales', 'support'], 'sales'],
  ])('keeps to the choices: %s', async (text, intentChoices, intent) => {
    expect(await analyse([text], ['intent'], { intentChoices })).toEqual({ intent });
  });

  it('names one of the choices whatever is said', async () => {
    const texts = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 4 });
    const choices = fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(texts, choices, async (utterances, intentChoices) => {
        expect(intentChoices).toContain((await analyse(utterances, ['intent'], { intentChoices })).intent);
      }),
    );
  });
});

describe('the built-in sentiment', () => {
  it.each([
    ['the staff were friendly and very helpful', 'positive'],
    ['this is the worst service, I am angry', 'negative'],
    ['that was not good', 'negative'],
    ['this is not a problem at all', 'neutral'],
    ['my appointment is on Tuesday', 'neutral'],
    ['आपकी सेवा बहुत अच्छी है', 'positive'],
    ['यह अच्छा नहीं है', 'negative'],
    ['बहुत घटिया और बेकार', 'negative'],
    ['कल दस बजे', 'neutral'],
  ])('%s: %s', async (text, sentiment) => expect(await analyse([text], ['sentiment'])).toEqual({ sentiment }));
});

describe('the built-in summary', () => {
  const talk = [
    'Hello, I am calling about the invoice for my broadband connection.',
    'Yes.',
    'The invoice shows two charges for the broadband connection in March.',
    'Okay, thank you.',
    'Let me see.',
    'Bye.',
  ];

  it('takes what says most, in order', async () => {
    expect((await analyse(talk, ['summary'])).summary).toBe(`${talk[0]} ${talk[2]}`);
  });

  it('has at most the allowed number of words, all from the transcript and in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.lorem({ maxCount: 3, mode: 'sentences' })),
        fc.integer({ min: 1, max: 30 }),
        async (said, cap) => {
          const { summary } = await analyse(said, ['summary'], { summaryMaxWords: cap });
          const words = summary!.split(/\s+/).filter((word) => word !== '');
          expect(words.length).toBeLessThanOrEqual(cap);
          let at = 0;
          const all = said.join(' ').split(/\s+/);
          for (const word of words) at = all.indexOf(word, at) + 1 || Number.NaN;
          expect(at).not.toBeNaN();
        },
      ),
    );
  });

  it('says nothing twice', async () => {
    const said = ['the bill is wrong', 'the bill is wrong', 'the bill is wrong', 'the bill is wrong'];
    expect(await analyse(said, ['summary'])).toEqual({ summary: 'the bill is wrong' });
  });

  it('of nothing is nothing', async () => expect(await analyse([], ['summary'])).toEqual({ summary: '' }));
});

describe('the built-in key terms', () => {
  it('are the runs of words that say something, the frequent and long ones first', async () => {
    const { keyterms } = await analyse(
      ['I want a new credit card', 'the credit card has a yearly fee', 'is the credit card limit high'],
      ['keyterms'],
    );
    expect(keyterms![0]).toBe('credit card');
    expect(keyterms).toContain('yearly fee');
    expect(keyterms!.join(' ')).not.toMatch(/\b(the|want|is)\b/);
  });

  it('begin with the names of the glossary as it spells them, and name no redacted term', async () => {
    const glossary = ['Zomato', 'Kotak Bank'];
    const { keyterms } = await analyse(['my zomatto order', 'from kotack bank on **** please'], ['keyterms'], { glossary });
    expect(keyterms!.slice(0, 2)).toEqual(['Zomato', 'Kotak Bank']);
    expect(keyterms!.join(' ')).not.toContain('*');
  });
});

describe('the built-in normalised text', () => {
  it.each([
    ['send the otp to my a t m card', 'Send the OTP to my ATM card'],
    ['i think it is on tuesday', 'I think it is on Tuesday'],
    ['i ordered from zomatto on monday', 'I ordered from Zomato on Monday'],
    ['from flip kart, please', 'From Flipkart, please'],
    ['kotack bank called', 'Kotak Bank called'],
    ["zomatto's food", "Zomato's food"],
    ['मैं नमस्ते', 'मैं नमस्ते'],
  ])('%s: %s', async (text, normalizedText) => {
    const glossary = ['Zomato', 'Flipkart', 'Kotak Bank'];
    expect(await analyse([text], ['normalizedText'], { glossary })).toEqual({ normalizedText });
  });
});

describe('the glossary', () => {
  it('leaves ordinary words that are merely near', () => {
    expect(new Glossary(['insulin', 'Ola'], 'strict').replacements('that was insulting to all of us'.split(' '))).toEqual([]);
  });

  it('gives places left to right that do not overlap', () => {
    const word = fc.constantFrom('kotak', 'bank', 'kotakbank', 'ko', 'tak', 'the', '****', 'zomato.', 'x');
    fc.assert(
      fc.property(fc.array(word), (words) => {
        let end = 0;
        for (const { from, count } of new Glossary(['Kotak Bank', 'Zomato', 'bank'], 'lenient').replacements(words)) {
          expect(from).toBeGreaterThanOrEqual(end);
          end = from + count;
        }
        expect(end).toBeLessThanOrEqual(words.length);
      }),
    );
  });
});

describe('the edit distance', () => {
  it.each([
    ['kitten', 'sitting', 3],
    ['', 'abc', 3],
    ['same', 'same', 0],
    ['दिल्ली', 'दिली', 2],
  ])('%s to %s is %d', (a, b, distance) => expect(editDistance(a, b, 9)).toBe(distance));

  it('says more than the most when it is', () => expect(editDistance('abcdef', 'ghijkl', 2)).toBeGreaterThan(2));
});

it.each([
  ['take met formin and ibuprofin daily', 'take metformin and ibuprofen daily'],
  ['she has hyper tension and new monia', 'she has hypertension and new monia'],
  ['history of myocardial infraction, and asthema', 'history of myocardial infarction, and asthma'],
  ['parasitamol for the migrane.', 'paracetamol for the migraine.'],
  ['no die a beatus', 'no die a beatus'],
  ['the station is crowded with strangers', 'the station is crowded with strangers'],
  ['blood pressure is normal', 'blood pressure is normal'],
  ['निमोनीया है', 'निमोनिया है'],
])('corrects %s', (text, wanted) => expect(rewriteText(text, medicalCorrections)).toBe(wanted));
