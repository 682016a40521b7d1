import { soundLabel } from '../../dialog/port.ts';
import { PLATFORM_SYNTHESIS } from '../../speech/platform-capabilities.ts';
import type { Recogniser, RecognitionEvent, SynthesisRequest, Synthesizer } from '../../speech/port.ts';
import type { Sounds } from '../../call/outbound/sounds/port.ts';
import type { DecisionLog } from './decision.ts';
import type { FixtureBody, KeptRecognition } from './fixture.ts';
import { failureName, type FixtureDraft } from './fixture-draft.ts';
import { recordAnswer, type StimulusGate } from './stimulus-gate.ts';

/** A recogniser that passes its events through the gate and records them, with the commit that caused each, if any. */
export function recordRecogniser(recogniser: Recogniser, gate: StimulusGate, draft: FixtureDraft): Recogniser {
  let mostHints: number | undefined;
  return {
    // The recogniser may change within the call, and its capabilities with it.
    get capabilities() {
      const { capabilities } = recogniser;
      if (capabilities.mostHints !== mostHints) draft.add({ k: 'recogniser', t: draft.t, mostHints: capabilities.mostHints });
      ({ mostHints } = capabilities);
      return capabilities;
    },
    open(options, listener) {
      const commits: number[] = [];
      const { language, boostPhrases = [] } = options;
      const s = draft.recognitions.push({ language, boostPhrases: [...boostPhrases], commits }) - 1;
      const openedMs = draft.t;
      let answered = 0;
      let aborted = false;
      let takesHints: boolean | undefined;
      const write = (event: RecognitionEvent): void => {
        const { t } = draft;
        const isAnswer = event.type === 'final' && answered < commits.length;
        const causedMs = isAnswer ? (commits[answered] ?? t) : openedMs;
        draft.add({ k: 'words', t, s, event: kept(event), ...(isAnswer ? { commit: answered } : {}), tookMs: t - causedMs });
        // Without the mark, a commit's last final is unknown: each counts as it.
        if (isAnswer && event.endOfUtterance !== false) answered += 1;
      };
      const session = recogniser.open(options, (event) =>
        gate.let(() => {
          // It was aborted during this wait.
          if (aborted) return;
          write(event);
          listener(event);
        }),
      );
      return {
        send: (pcm) => {
          draft.recogniserHears(pcm);
          session.send(pcm);
        },
        commit: () => {
          commits.push(draft.t);
          session.commit();
        },
        get listenFor() {
          if (session.listenFor === undefined) {
            if (takesHints !== false) draft.add({ k: 'hints', t: draft.t, s, phrases: null });
            takesHints = false;
            return undefined;
          }
          return (phrases: readonly string[]) => {
            takesHints = true;
            draft.add({ k: 'hints', t: draft.t, s, phrases: [...phrases] });
            session.listenFor?.(phrases);
          };
        },
        end: () => session.end(),
        abort: () => {
          aborted = true;
          session.abort();
        },
      };
    },
  };
}

/** A synthesizer that passes its audio through the gate and records it. */
export function recordSynthesizer(
  synthesizer: Synthesizer,
  gate: StimulusGate,
  draft: FixtureDraft,
  decisions: DecisionLog,
): Synthesizer {
  return {
    get capabilities() {
      return synthesizer.capabilities;
    },
    speak(request, signal) {
      const { text, voice, language, speed = 1 } = request;
      const kept: FixtureBody['speeches'][number] = { text, voice, language, speed, abortedAfterMs: null };
      const speech = draft.speeches.push(kept) - 1;
      decisions.note('speak', JSON.stringify(text));
      const notes = draft.answerNotes<Uint8Array>(
        (audio, timing) => {
          draft.add({ k: 'sound', t: draft.t, ...timing, speech, n: audio.length });
          draft.keepAudio('bot', audio);
        },
        (timing, failure) => draft.add({ k: 'spoken', t: draft.t, ...timing, speech, failure }),
        (afterMs) => void (kept.abortedAfterMs = afterMs),
      );
      return recordAnswer(synthesizer.speak(request, signal), signal, gate, notes);
    },
  };
}

/** Sounds as recorded: by name only, since an address may contain a key. */
export function recordSounds(sounds: Sounds, gate: StimulusGate, draft: FixtureDraft, decisions: DecisionLog): Sounds {
  return {
    play(folder, source, format, signal) {
      const synthesizer = { capabilities: PLATFORM_SYNTHESIS, speak: () => sounds.play(folder, source, format, signal) };
      return recordSynthesizer(synthesizer, gate, draft, decisions).speak(soundSpeech(source), signal);
    },
  };
}

/** A sound's entry among the fixture's speeches. */
export function soundSpeech(source: string): SynthesisRequest {
  return { text: soundLabel(source), voice: 'sound', language: '', speed: 1 };
}

function kept(event: RecognitionEvent): KeptRecognition {
  switch (event.type) {
    case 'final': {
      const { type, seg, text, endOfUtterance, language } = event;
      return { type, seg, text, endOfUtterance: endOfUtterance ?? null, language: language ?? null };
    }
    case 'closed':
      return { type: 'closed', error: event.error === undefined ? null : failureName(event.error) };
    case 'ready':
    case 'partial':
    case 'final-refined':
    case 'reconnecting':
    case 'audio-lost':
      return event;
  }
}
