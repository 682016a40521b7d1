/** DTMF (ITU-T Q.23): the two tones of each key, in Hz. */
const ROWS = [697, 770, 852, 941] as const;
const COLUMNS = [1209, 1336, 1477] as const;
const KEYS = ['123', '456', '789', '*0#'] as const;
const TONE_MS = 120;

/** Plays the tone of a pressed key locally. The gateway learns of the key by a message. */
export function playKeyTone(context: AudioContext, key: string): void {
  const row = KEYS.findIndex((keys) => keys.includes(key));
  const hz = [ROWS[row], COLUMNS[KEYS[row]?.indexOf(key) ?? -1]];
  const gain = new GainNode(context, { gain: 0.06 });
  gain.connect(context.destination);
  const endsAt = context.currentTime + TONE_MS / 1000;
  for (const frequency of hz) {
    if (frequency === undefined) return;
    const tone = new OscillatorNode(context, { frequency });
    tone.connect(gain);
    tone.start();
    tone.stop(endsAt);
    tone.onended = () => gain.disconnect();
  }
}
