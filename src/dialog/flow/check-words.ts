import { shown } from '../../config/problem.ts';
import { minutesOf, type Language, tokenise } from '../../language/index.ts';
import type { FlowProblem } from './flow-problem.ts';
import { phrasesOf, textsOf } from './flow-texts.ts';
import type { Flow, Slot } from './schema.ts';
import { inLanguage } from './text.ts';

/** Prompts and phrases that a language lacks, and phrases, keys and limits that contradict each other. */
export function checkWords(flow: Flow): FlowProblem[] {
  const problems: FlowProblem[] = [];
  for (const language of flow.languages) {
    for (const { path, text } of textsOf(flow)) {
      if (inLanguage<string>(text, language) === undefined)
        problems.push({ path, message: `has no text for language ${language}` });
    }
    for (const { path, phrases } of phrasesOf(flow)) {
      const list = inLanguage<readonly string[]>(phrases, language);
      if (list === undefined) problems.push({ path, message: `has no phrases for language ${language}` });
      const empty = list?.find((phrase) => tokenise(phrase).length === 0);
      if (empty !== undefined) problems.push({ path, value: shown(empty), message: 'has no word that can be listened for' });
    }
  }
  for (const [name, slot] of Object.entries(flow.slots)) problems.push(...checkSlot(flow, `slots.${name}`, slot));
  return problems;
}

function checkSlot(flow: Flow, path: string, slot: Slot): FlowProblem[] {
  switch (slot.kind) {
    case 'choice':
      if (Object.keys(slot.options).length === 0) return [{ path: `${path}.options`, message: 'needs at least one option' }];
      return [...sameKeys(path, slot), ...flow.languages.flatMap((language) => samePhrases(path, slot, language))];
    case 'time':
      return slot.from !== undefined && slot.to !== undefined && minutesOf(slot.from) >= minutesOf(slot.to)
        ? [{ path: `${path}.to`, value: shown(slot.to), message: 'must be later than from' }]
        : [];
    case 'digits':
      return slot.length === undefined && slot.least > slot.most
        ? [{ path: `${path}.most`, value: shown(slot.most), message: 'must not be less than least' }]
        : [];
    case 'money':
      return slot.least !== undefined && slot.most !== undefined && slot.least > slot.most
        ? [{ path: `${path}.most`, value: shown(slot.most), message: 'must not be less than least' }]
        : [];
    case 'day':
    case 'yes-no':
    case 'text':
    case 'phone':
    case 'code':
    case 'email':
    case 'name':
      return [];
  }
}

function sameKeys(path: string, slot: Slot & { kind: 'choice' }): FlowProblem[] {
  const owners = new Map<string, string>();
  return Object.entries(slot.options).flatMap(([name, { key }]) => {
    if (key === undefined) return [];
    const first = owners.get(key);
    owners.set(key, first ?? name);
    const message = `is the key of ${first} already`;
    return first === undefined ? [] : [{ path: `${path}.options.${name}.key`, value: shown(key), message }];
  });
}

function samePhrases(path: string, slot: Slot & { kind: 'choice' }, language: Language): FlowProblem[] {
  const owners = new Map<string, string>();
  return Object.entries(slot.options).flatMap(([name, { phrases }]) =>
    (inLanguage<readonly string[]>(phrases, language) ?? []).flatMap((phrase) => {
      const words = tokenise(phrase).join(' ');
      const first = owners.get(words);
      owners.set(words, first ?? name);
      if (first === undefined || first === name) return [];
      const message = `means ${first} already, so neither could be chosen by it`;
      return [{ path: `${path}.options.${name}.phrases`, value: shown(phrase), message }];
    }),
  );
}
