/** `offhook/speech`: the speech platform's client, usable without the rest of the project. */
export type { Clock, Timer } from '../kernel/clock.ts';
export type { LogFields, Logger } from '../observability/logger.ts';
export { type AccessToken, type PlatformHealth, SpeechPlatform, type SpeechPlatformDeps } from './platform.ts';
export type { SpeechPlatformSettings } from './settings.ts';
export type { TokenProvider } from './credentials.ts';
export { MemoryTokenStore, type SharedToken, type TokenStore } from './token-store.ts';
export {
  SpeechAuthError,
  SpeechBusyError,
  SpeechError,
  SpeechFailedError,
  SpeechOverloadedError,
  SpeechProtocolError,
  SpeechRequestError,
  SpeechUnavailableError,
} from './errors.ts';
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
export type { ServiceHealth } from './health.ts';
export type { PlatformLanguage, PlatformLanguages } from './languages/languages.ts';
export type { MedicalOptions } from './medical/medical.ts';
export type { MedicalResult, MedicalSegment } from './medical/medical-result.ts';
export { registeredDate, type SpeakerProfile } from './speakers/speaker-profile.ts';
export type { NamedSpeaker, RegisteredSpeaker, SpeakerMatch, Speakers } from './speakers/speakers.ts';
export type { Slot, SlotPriority } from './slots.ts';
export type { BatchSpeechOptions, SpokenAudio } from './tts/batch.ts';
export type { RequestStyle, StreamedSpeechOptions } from './tts/realtime-request.ts';
export { SentenceCutter, splitForSpeech } from './tts/sentences.ts';
export type { BackgroundPreset, SpeechFormat, SpeechOptions, SpeechQuality } from './tts/speech-fields.ts';
