import { ActionIcon, Box, Button, Group, SegmentedControl, Text, useComputedColorScheme } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import WaveSurfer from 'wavesurfer.js';
import { styleNonce } from '../../parts/style-nonce.ts';
import { clockText } from '../../parts/format.ts';
import { useWords } from '../../words.ts';
import { LinkButton } from './call-links.tsx';
import type { Call, Sound, Utterance } from './call-model.ts';
import css from './call.module.css';
import { type Player, usePlayer } from './player.ts';
import { pathOf } from './queries.ts';
import { Legend, Marks, Ruler, type View } from './wave-marks.tsx';
import { callWords } from './words.ts';

/** Height of one side, in px. */
const SIDE = 60;
const COLOURS = {
  light: { caller: '#8fb4ee', callerPlayed: '#1d56c2', bot: '#7cc9b6', botPlayed: '#0b7267', cursor: '#b3261e' },
  dark: { caller: '#3f66a8', callerPlayed: '#8db8ff', bot: '#2e7d70', botPlayed: '#6fd3c0', cursor: '#ff8a80' },
} as const;
const MOST_PX_PER_S = 320;
const SPEEDS = ['0.5', '1', '1.25', '1.5', '2'] as const;

export interface WaveformProps {
  readonly call: Call;
  readonly player: Player;
  readonly utterances: readonly Utterance[];
  /** The recording's sound, or a drawing from the record. */
  readonly sound: Sound;
  /** Whether there is a recording to be played. */
  readonly hasSound: boolean;
}

/** Both sides of the call over time, the caller above, with everything that happened on it. Plays the recording. */
export function Waveform({ call, player, utterances, sound, hasSound }: WaveformProps): ReactNode {
  const w = useWords(callWords);
  const { durationMs } = sound;

  const { box, audio, position, view, pxPerS, zoomTo, speed, setSpeed } = useWave({ call, player, sound, hasSound });
  const fitting = (view.widthPx * 1000) / durationMs;
  const zoom = (factor: number): void =>
    zoomTo((before) => {
      const next = Math.max(before, fitting) * factor;
      return next <= fitting ? 0 : Math.min(MOST_PX_PER_S, next);
    });
  const onKey = (event: KeyboardEvent): void => {
    const step = event.shiftKey ? 1_000 : 5_000;
    const acts: Readonly<Record<string, () => void>> = {
      ' ': () => player.toggle(),
      ArrowLeft: () => player.seek(player.atMs - step),
      ArrowRight: () => player.seek(Math.min(durationMs, player.atMs + step)),
      Home: () => player.seek(0),
      End: () => player.seek(durationMs),
      '+': () => zoom(2),
      '-': () => zoom(0.5),
    };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };

  return (
    <Box className={css['wave']}>
      <Controls player={player} durationMs={durationMs} hasSound={hasSound}>
        {hasSound ? (
          <SegmentedControl
            size="xs"
            value={speed}
            onChange={setSpeed}
            aria-label={w.speed}
            data={SPEEDS.map((each) => ({ value: each, label: `${each}×` }))}
          />
        ) : null}
        <LinkButton player={player} />
        <Group gap={4}>
          <ActionIcon variant="default" aria-label={w.zoomOut} onClick={() => zoom(0.5)} disabled={pxPerS === 0}>
            −
          </ActionIcon>
          <ActionIcon variant="default" aria-label={w.zoomIn} onClick={() => zoom(2)} disabled={pxPerS >= MOST_PX_PER_S}>
            +
          </ActionIcon>
          <Button variant="default" size="compact-sm" onClick={() => zoomTo(0)} disabled={pxPerS === 0}>
            {w.zoomAll}
          </Button>
        </Group>
      </Controls>
      <Ruler view={view} durationMs={durationMs} />
      <Box className={css['sides']}>
        <div ref={box} />
        <Marks call={call} utterances={utterances} view={view} durationMs={durationMs} player={player} />
        <span className={css['side']} data-side="caller" aria-hidden>
          {w.caller}
        </span>
        <span className={css['side']} data-side="bot" aria-hidden>
          {call.mode === 'listen' ? w.other : w.bot}
        </span>
        <Position ref={position} player={player} durationMs={durationMs} onKey={onKey} />
      </Box>
      <Legend call={call} />
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- its words are beside it, and follow it */}
      {hasSound ? <audio ref={audio} preload="metadata" hidden /> : null}
    </Box>
  );
}

/** Draws both sides in the box, has the player play them, and keeps the colours, the zoom and the speed. */
function useWave({ call, player, sound, hasSound }: Omit<WaveformProps, 'utterances'>) {
  const box = useRef<HTMLDivElement>(null);
  const audio = useRef<HTMLAudioElement>(null);
  // Has the keys once the drawing was pressed.
  const position = useRef<HTMLInputElement>(null);
  const scheme = useComputedColorScheme('light');
  const [wave, setWave] = useState<WaveSurfer>();
  const [view, setView] = useState<View>({ fromPx: 0, widthPx: 0, totalPx: 1 });
  const [pxPerS, zoomTo] = useState(0);
  const [speed, setSpeed] = useState('1');
  const { durationMs } = sound;

  useEffect(() => {
    if (box.current === null) return undefined;
    const drawn = WaveSurfer.create({
      container: box.current,
      cspNonce: styleNonce(),
      peaks: [sound.caller, sound.bot],
      duration: durationMs / 1000,
      splitChannels: [{ height: SIDE }, { height: SIDE }],
      height: SIDE,
      // Telephone voices are soft: both sides are raised alike.
      barHeight: hasSound ? raiseOf(sound) : 1,
      cursorWidth: 2,
      dragToSeek: true,
      autoCenter: false,
      ...(hasSound && audio.current !== null ? { media: audio.current, url: `/api${pathOf(call.id, '/audio')}` } : {}),
    });
    const look = (): void => {
      const [totalPx, widthPx] = [drawn.getWrapper().clientWidth, drawn.getWidth()];
      setView({ fromPx: drawn.getScroll(), widthPx, totalPx: Math.max(1, totalPx) });
    };
    for (const event of ['scroll', 'redraw', 'resize', 'zoom'] as const) drawn.on(event, look);
    drawn.on('timeupdate', (seconds) => player.moved(seconds * 1000));
    drawn.on('interaction', (seconds) => {
      player.moved(seconds * 1000);
      position.current?.focus({ preventScroll: true });
    });
    drawn.on('play', () => player.plays(true));
    drawn.on('pause', () => player.plays(false));
    drawn.on('finish', () => player.plays(false));
    const release = player.connect({
      play(fromMs) {
        if (fromMs !== undefined) drawn.setTime(fromMs / 1000);
        // Browsers refuse to play before the first interaction; the position is right all the same.
        if (hasSound) drawn.play().catch(() => player.plays(false));
      },
      pause: () => drawn.pause(),
      seek: (ms) => drawn.setTime(ms / 1000),
    });
    // A link leads to a second, and another drawing goes on from where this one was.
    if (player.atMs > 0) drawn.setTime(player.atMs / 1000);
    setWave(drawn);
    return () => {
      release();
      setWave(undefined);
      drawn.destroy();
    };
  }, [call.id, hasSound, sound, durationMs, player]);

  useEffect(() => {
    const { caller, callerPlayed, bot, botPlayed, cursor } = COLOURS[scheme];
    wave?.setOptions({
      cursorColor: cursor,
      splitChannels: [
        { height: SIDE, waveColor: caller, progressColor: hasSound ? callerPlayed : caller },
        { height: SIDE, waveColor: bot, progressColor: hasSound ? botPlayed : bot },
      ],
    });
  }, [wave, scheme, hasSound]);
  useEffect(() => wave?.setOptions({ minPxPerSec: pxPerS }), [wave, pxPerS]);
  useEffect(() => wave?.setPlaybackRate(Number(speed), true), [wave, speed]);
  return { box, audio, position, view, pxPerS, zoomTo, speed, setSpeed };
}

/** How much larger than it is the sound is drawn. */
function raiseOf({ caller, bot }: Sound): number {
  const loudest = [caller, bot].reduce((most, levels) => levels.reduce((high, level) => Math.max(high, level), most), 0);
  return loudest === 0 ? 1 : Math.min(4, 0.95 / loudest);
}

/** The drawing as one control: where the sound is, and keys to move it. */
function Position({
  ref,
  player,
  durationMs,
  onKey,
}: {
  readonly ref: RefObject<HTMLInputElement | null>;
  readonly player: Player;
  readonly durationMs: number;
  readonly onKey: (event: KeyboardEvent) => void;
}): ReactNode {
  const w = useWords(callWords);
  const seconds = usePlayer(player, ({ atMs }) => Math.round(atMs / 1000));
  return (
    <input
      ref={ref}
      className={css['position']}
      type="range"
      min={0}
      max={Math.round(durationMs / 1000)}
      value={seconds}
      aria-label={w.position}
      title={w.positionKeys}
      aria-valuetext={clockText(seconds * 1000)}
      onChange={({ currentTarget }) => player.seek(currentTarget.valueAsNumber * 1000)}
      onKeyDown={onKey}
    />
  );
}

function Controls({
  player,
  durationMs,
  hasSound,
  children,
}: {
  readonly player: Player;
  readonly durationMs: number;
  readonly hasSound: boolean;
  readonly children: ReactNode;
}): ReactNode {
  const w = useWords(callWords);
  const isPlaying = usePlayer(player, (now) => now.isPlaying);
  const at = usePlayer(player, ({ atMs }) => clockText(atMs));
  const total = useMemo(() => clockText(durationMs), [durationMs]);
  return (
    <Group justify="space-between" gap="xs" mb={6}>
      <Group gap="sm" wrap="nowrap">
        {hasSound ? (
          <Button size="xs" miw={92} onClick={() => player.toggle()}>
            {isPlaying ? `❚❚ ${w.pause}` : `▶ ${w.play}`}
          </Button>
        ) : null}
        <Text size="sm" className="figures">
          {at} / {total}
        </Text>
      </Group>
      <Group gap="sm">{children}</Group>
    </Group>
  );
}
