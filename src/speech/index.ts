/** `offhook/speech`: the speech platform's client, usable without the rest of the project. */
export type { Clock, Timer } from '../kernel/clock.ts';
export type { LogFields, Logger } from '../observability/logger.ts';
export { type AccessToken, type PlatformHealth, SpeechPlatform, type SpeechPlatformDeps } from './platform.ts';
export type { SpeechPlatformSettings } from './client/settings.ts';
export type { TokenProvider } from './client/credentials.ts';
export { MemoryTokenStore, type SharedToken, type TokenStore } from './client/token-store.ts';
export {
  SpeechAuthError,
  SpeechBusyError,
  SpeechError,
  SpeechFailedError,
  SpeechOverloadedError,
  SpeechProtocolError,
  SpeechRequestError,
  SpeechUnavailableError,
} from './client/errors.ts';
export type {
  Recogniser,
  RecognitionEvent,
  RecognitionOptions,
  RecognitionSession,
  SynthesisRequest,
  Synthesizer,
} from './port.ts';
export type { AudioFile } from './asr/audio-source.ts';
export type { TranscriptionOptions, TranscriptionSource, TranscriptionWatch } from './asr/batch.ts';
export type {
  IdentifiedSpeaker,
  SpeakerTurn,
  TranscribedWord,
  TranscriptAnalysis,
  TranscriptionResult,
  TranscriptionSegment,
} from './asr/transcription-result.ts';
export type { CommittedTurn, RecognitionStream } from './asr/recognition-stream.ts';
export type { ServiceHealth } from './client/health.ts';
export type { PlatformLanguage, PlatformLanguages } from './asr/languages.ts';
export type { MedicalOptions } from './asr/medical.ts';
export type { MedicalResult, MedicalSegment } from './asr/medical.ts';
export { registeredDate, type SpeakerProfile } from './asr/speakers.ts';
export type { NamedSpeaker, RegisteredSpeaker, SpeakerMatch, Speakers } from './asr/speakers.ts';
export type { Slot, SlotPriority } from './client/slots.ts';
export type { BatchSpeechOptions, SpokenAudio } from './tts/batch.ts';
export type { RequestStyle, StreamedSpeechOptions } from './tts/realtime-request.ts';
export { SentenceCutter, splitForSpeech } from './tts/sentences.ts';
export type { BackgroundPreset, SpeechFormat, SpeechOptions, SpeechQuality } from './tts/speech-fields.ts';
