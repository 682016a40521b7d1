import { Text, UnstyledButton, Group } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { say, useWords } from '../../words.ts';
import classes from './talk.module.css';
import { talkWords } from './words.ts';
import type { Level } from '../../audio/levels.ts';

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'] as const;
const LETTERS: Readonly<Record<string, string>> = {
  '2': 'ABC',
  '3': 'DEF',
  '4': 'GHI',
  '5': 'JKL',
  '6': 'MNO',
  '7': 'PQRS',
  '8': 'TUV',
  '9': 'WXYZ',
};

/** Keys of a telephone, with their tones; the keyboard's own keys press them too while it is there. */
export function Keypad({ press }: { readonly press: (key: string) => void }): ReactNode {
  const w = useWords(talkWords);
  const context = useRef<AudioContext>(undefined);
  const pressed = useRef((key: string): void => {
    context.current ??= new AudioContext();
    playKeyTone(context.current, key);
    press(key);
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping =
        event.target instanceof HTMLElement && event.target.closest('input, textarea, select, [role="combobox"]') !== null;
      if (isTyping || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
      if ((KEYS as readonly string[]).includes(event.key)) pressed.current(event.key);
    };
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
      void context.current?.close();
      context.current = undefined;
    };
  }, []);
  const names: Readonly<Record<string, string>> = { '*': w.star, '#': w.hash };
  return (
    <div>
      <fieldset className={classes['keypad']} aria-label={w.keypad}>
        {KEYS.map((key) => (
          <UnstyledButton
            key={key}
            className={classes['key']}
            aria-label={say(w.key, { key: names[key] ?? key })}
            onClick={() => pressed.current(key)}
          >
            <span>{key}</span>
            <small data-letters={LETTERS[key] ?? '\u00a0'} />
          </UnstyledButton>
        ))}
      </fieldset>
      <Text size="xs" c="dimmed" ta="center" mt={6}>
        {w.keysHint}
      </Text>
    </div>
  );
}

/** DTMF (ITU-T Q.23): the two tones of each key, in Hz. */
const ROWS_HZ = [697, 770, 852, 941] as const;
const COLUMNS_HZ = [1209, 1336, 1477] as const;
const KEY_ROWS = ['123', '456', '789', '*0#'] as const;
const TONE_MS = 120;

/** Lets who presses a key hear it. Nothing of it is sent: the gateway is told of the key by a message. */
function playKeyTone(context: AudioContext, key: string): void {
  const row = KEY_ROWS.findIndex((keys) => keys.includes(key));
  const hz = [ROWS_HZ[row], COLUMNS_HZ[KEY_ROWS[row]?.indexOf(key) ?? -1]];
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

const BARS = 24;
/** A screen reader needs no picture a second. */
const TELL_EVERY_MS = 1_000;

/** The level of one side, drawn once a picture without React. */
export function Meter({
  level,
  name,
  label,
  note,
}: {
  readonly level: Level;
  readonly name: string;
  /** What a screen reader calls it. */
  readonly label: string;
  readonly note?: string | undefined;
}): ReactNode {
  const bars = useRef<HTMLDivElement>(null);
  const meter = useRef<HTMLMeterElement>(null);
  useEffect(() => {
    let toldAtMs = 0;
    let frame = requestAnimationFrame(function draw(nowMs) {
      const value = level.at(nowMs);
      bars.current?.style.setProperty('--level', value.toFixed(3));
      if (nowMs - toldAtMs > TELL_EVERY_MS) {
        toldAtMs = nowMs;
        if (meter.current !== null) meter.current.value = Math.round(value * 100);
      }
      frame = requestAnimationFrame(draw);
    });
    return () => cancelAnimationFrame(frame);
  }, [level]);
  return (
    <div className={classes['meter']}>
      <Group gap={6} justify="space-between" wrap="nowrap">
        <Text size="sm" fw={500} truncate>
          {name}
        </Text>
        {note === undefined ? null : (
          <Text size="xs" c="dimmed">
            {note}
          </Text>
        )}
      </Group>
      <meter ref={meter} aria-label={label} min={0} max={100} className={classes['unseen']} />
      <div ref={bars} aria-hidden className={classes['bars']}>
        {Array.from({ length: BARS }, (_, at) => (
          <span key={at} style={{ '--at': at / BARS } as React.CSSProperties} />
        ))}
      </div>
    </div>
  );
}
