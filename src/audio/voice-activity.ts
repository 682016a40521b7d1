import fvad from '@echogarden/fvad-wasm';
import { FRAME_SAMPLES_8K } from './format.ts';
import { rmsLevelDb } from './level.ts';

export interface VoiceVerdict {
  /** Something louder than the line's noise that the detector takes for a voice. */
  readonly voiced: boolean;
  readonly levelDb: number;
  readonly noiseFloorDb: number;
  /** How pitched the frame is: 0 for noise, clicks and breath, 1 for a steady vowel. */
  readonly speechLike: number;
}

export interface VoiceActivityOptions {
  /** How far above the noise floor a voice must be. */
  readonly aboveFloorDb?: number;
  /** Nothing quieter is a voice, however quiet the line. */
  readonly leastLevelDb?: number;
}

const FLOOR_START_DB = -60;
const FLOOR_LEAST_DB = -75;
const FLOOR_MOST_DB = -30;
/** Share of the way the floor falls in one frame towards a quieter line: a lost packet's 20 ms of zeros do not undo it. */
const FLOOR_FALL = 0.3;
/** The floor rises slowly, slower still while the detector hears a voice. */
const FLOOR_RISE_DB = 0.12;
const FLOOR_RISE_VOICED_DB = 0.01;
/** Loud and without pitch for longer than speech can be (a drawn-out s is under 300 ms): an engine, a fan, rain. */
const FLOOR_RISE_DRONE_DB = 0.5;
const DRONE_FRAMES = 25;
const PITCHED = 0.5;
/** WebRTC's detector, 0 (lenient) to 3 (strict): 2 keeps weak word ends and rejects most line noise. */
const STRICTNESS = 2;
const RATE_HZ = 8000;

/**
 * Loads the detector's WebAssembly once and returns a maker of detectors, one for each call; making and running them is
 * synchronous. A detector is a few hundred bytes and must be closed.
 */
export async function loadVoiceActivity(): Promise<(options?: VoiceActivityOptions) => VoiceActivity> {
  const module = await fvad();
  return (options = {}) => new VoiceActivity(module, options);
}

/** Voice activity of one 8 kHz line, 20 ms at a time: WebRTC's detector, gated by a noise floor that follows the line. */
export class VoiceActivity {
  readonly #module: FvadModule;
  readonly #aboveFloorDb: number;
  readonly #leastLevelDb: number;
  readonly #handle: number;
  readonly #buffer: number;
  readonly #pitch = new PitchMeter();
  #floorDb = FLOOR_START_DB;
  /** Frames in a row that were loud and had no pitch. */
  #unpitchedFrames = 0;
  #closed = false;

  constructor(module: FvadModule, { aboveFloorDb = 9, leastLevelDb = -52 }: VoiceActivityOptions) {
    this.#module = module;
    this.#aboveFloorDb = aboveFloorDb;
    this.#leastLevelDb = leastLevelDb;
    this.#handle = module._fvad_new();
    this.#buffer = module._malloc(FRAME_SAMPLES_8K * 2);
    module._fvad_set_sample_rate(this.#handle, RATE_HZ);
    module._fvad_set_mode(this.#handle, STRICTNESS);
  }

  /**
   * @param frame 160 samples, in the order of the line; not kept
   * @throws RangeError for any other length, TypeError after `close`
   */
  process(frame: Int16Array): VoiceVerdict {
    if (frame.length !== FRAME_SAMPLES_8K) throw new RangeError(`a frame has ${FRAME_SAMPLES_8K} samples, not ${frame.length}`);
    if (this.#closed) throw new TypeError('this detector was closed');
    this.#module.HEAP16.set(frame, this.#buffer >> 1);
    const heard = this.#module._fvad_process(this.#handle, this.#buffer, frame.length) === 1;
    const levelDb = rmsLevelDb(frame);
    const voiced = heard && levelDb >= this.#leastLevelDb && levelDb >= this.#floorDb + this.#aboveFloorDb;
    const speechLike = this.#pitch.measure(frame, voiced);
    if (speechLike >= PITCHED) this.#unpitchedFrames = 0;
    else if (voiced) this.#unpitchedFrames += 1;
    this.#followFloor(levelDb, heard);
    return { voiced, levelDb, noiseFloorDb: this.#floorDb, speechLike };
  }

  #followFloor(levelDb: number, heard: boolean): void {
    const droning = this.#unpitchedFrames > DRONE_FRAMES;
    const rise = droning ? FLOOR_RISE_DRONE_DB : heard ? FLOOR_RISE_VOICED_DB : FLOOR_RISE_DB;
    const floorDb =
      levelDb < this.#floorDb ? this.#floorDb + FLOOR_FALL * (levelDb - this.#floorDb) : Math.min(levelDb, this.#floorDb + rise);
    this.#floorDb = Math.max(FLOOR_LEAST_DB, Math.min(FLOOR_MOST_DB, floorDb));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#module._fvad_free(this.#handle);
    this.#module._free(this.#buffer);
  }
}

/** What of the WebAssembly module is used. */
export interface FvadModule {
  readonly HEAP16: Int16Array;
  _fvad_new(): number;
  _fvad_free(handle: number): void;
  _fvad_set_mode(handle: number, mode: number): number;
  _fvad_set_sample_rate(handle: number, rateHz: number): number;
  _fvad_process(handle: number, frame: number, length: number): number;
  _malloc(bytes: number): number;
  _free(address: number): void;
}

const HALF_RATE_SAMPLES = FRAME_SAMPLES_8K / 2;
/** Lags of 400 down to 62 Hz at 4 kHz, where human pitch lies. */
const LEAST_LAG = 10;
const MOST_LAG = 64;

/** So alike is a pitch: whether another lag is more alike yet, nobody asks. */
const SURELY = 0.9;

/** Measures how periodic a frame is, by the best normalised autocorrelation in the range of human pitch. */
class PitchMeter {
  /** The last two frames at 4 kHz, oldest first. */
  readonly #recent = new Float64Array(2 * HALF_RATE_SAMPLES);

  measure(frame: Int16Array, wanted: boolean): number {
    const recent = this.#recent;
    recent.copyWithin(0, HALF_RATE_SAMPLES);
    for (let index = 0; index < HALF_RATE_SAMPLES; index += 1) {
      recent[HALF_RATE_SAMPLES + index] = (frame[2 * index]! + frame[2 * index + 1]!) / 2;
    }
    if (!wanted) return 0;
    const from = HALF_RATE_SAMPLES;
    const energy = energyOf(recent, from, recent.length);
    if (energy === 0) return 0;
    let lagged = energyOf(recent, from - LEAST_LAG, recent.length - LEAST_LAG);
    let bestShare = 0;
    for (let lag = LEAST_LAG; lag <= MOST_LAG; lag += 1) {
      const product = productAt(recent, lag);
      if (product > 0 && product * product > bestShare * lagged) {
        bestShare = (product * product) / lagged;
        if (bestShare >= SURELY * SURELY * energy) break;
      }
      // The next lag's window begins one sample earlier. Samples are whole halves, so that nothing is lost by adding and taking away.
      const enters = recent[from - lag - 1]!;
      const leaves = recent[recent.length - lag - 1]!;
      lagged += enters * enters - leaves * leaves;
    }
    return Math.sqrt(bestShare / energy);
  }
}

function energyOf(samples: Float64Array, from: number, until: number): number {
  let energy = 0;
  for (let index = from; index < until; index += 1) energy += samples[index]! * samples[index]!;
  return energy;
}

/** The newest frame times what came `lag` samples before it, four at a time: the sums do not wait for one another. */
function productAt(samples: Float64Array, lag: number): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let index = HALF_RATE_SAMPLES; index < 2 * HALF_RATE_SAMPLES; index += 4) {
    a += samples[index]! * samples[index - lag]!;
    b += samples[index + 1]! * samples[index + 1 - lag]!;
    c += samples[index + 2]! * samples[index + 2 - lag]!;
    d += samples[index + 3]! * samples[index + 3 - lag]!;
  }
  return a + b + c + d;
}
