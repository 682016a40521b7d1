import { useSyncExternalStore } from 'react';

/** What a player does; the waveform has it done by its audio element. */
export interface Playing {
  play(fromMs?: number): void;
  pause(): void;
  seek(ms: number): void;
}

/**
 * Where the sound is, for everything on the page that follows it. Positions are ms on the drawing. Without a recording the position moves,
 * and nothing sounds.
 */
export class Player {
  #atMs = 0;
  #isPlaying = false;
  #playing: Playing | undefined;
  readonly #listeners = new Set<() => void>();

  get atMs(): number {
    return this.#atMs;
  }

  get isPlaying(): boolean {
    return this.#isPlaying;
  }

  /** @returns takes the sound away again */
  connect(playing: Playing): () => void {
    this.#playing = playing;
    return () => {
      this.#playing = undefined;
    };
  }

  /** Plays from there on; moves there where there is no sound. */
  playFrom(ms: number): void {
    this.moved(ms);
    this.#playing?.play(ms);
  }

  seek(ms: number): void {
    this.moved(Math.max(0, ms));
    this.#playing?.seek(this.#atMs);
  }

  toggle(): void {
    if (this.#isPlaying) this.#playing?.pause();
    else this.#playing?.play();
  }

  /** The sound has come to this moment. */
  moved(ms: number): void {
    this.#atMs = ms;
    this.#tell();
  }

  plays(isPlaying: boolean): void {
    this.#isPlaying = isPlaying;
    this.#tell();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** What is so now of the player: components are drawn again when it changes, not with every moment of the sound. */
export function usePlayer<Value extends string | number | boolean | undefined>(
  player: Player,
  read: (player: Player) => Value,
): Value {
  return useSyncExternalStore(player.subscribe, () => read(player));
}
