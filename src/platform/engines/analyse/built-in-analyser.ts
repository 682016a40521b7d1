import type { Analyser, Analysis, AnalysisRequest } from './port.ts';
import { Glossary } from './glossary.ts';
import { intentOf } from './intent.ts';
import { keytermsOf } from './keyterms.ts';
import { normalise } from './normalise.ts';
import { sentimentOf } from './sentiment.ts';
import { summaryOf } from './summary.ts';

/** Analysis by rules and word lists, for English and Hindi (docs/platform-features.md). */
export const builtInAnalyser: Analyser = {
  async analyse(request, signal) {
    signal.throwIfAborted();
    return analysed(request);
  },
};

function analysed({ utterances, parts, intentChoices, summaryMaxWords, glossary: terms }: AnalysisRequest): Analysis {
  const glossary = new Glossary(terms, 'lenient');
  return {
    ...(parts.has('intent') ? { intent: intentOf(utterances, intentChoices) } : {}),
    ...(parts.has('sentiment') ? { sentiment: sentimentOf(utterances) } : {}),
    ...(parts.has('summary') ? { summary: summaryOf(utterances, summaryMaxWords) } : {}),
    ...(parts.has('keyterms') ? { keyterms: keytermsOf(utterances, glossary) } : {}),
    ...(parts.has('normalizedText') ? { normalizedText: normalise(utterances, glossary) } : {}),
  };
}
