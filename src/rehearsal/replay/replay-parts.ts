import { loadVoiceActivity } from '../../audio/voice-activity/voice-activity.ts';
import { inlineJudge } from '../../call/inbound/neural/inline-judge.ts';
import { loadRnnoise } from '../../call/inbound/neural/rnnoise-model.ts';
import { parseKeptAction } from '../../dialog/action-schema.ts';
import { SentenceCutter } from '../../speech/tts/sentences.ts';
import type { ReplayParts } from './replay-call.ts';

/** External parts of today's code for replays. */
export async function replayParts(): Promise<ReplayParts> {
  return {
    createDetector: await loadVoiceActivity(),
    speechJudge: inlineJudge(await loadRnnoise()),
    createCutter: () => new SentenceCutter(),
    readAction: parseKeptAction,
  };
}
