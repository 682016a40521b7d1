import { Alert, Button, Group, Paper, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { usePersonName } from '../../parts/orders.ts';
import { say, useWords } from '../../words.ts';
import { CallAudio, type CallAudioStanding, type Levels } from './call-audio.ts';
import { controlWords } from './call-words.ts';
import classes from './live.module.css';

/** The audio of a call while its page is open; the page of another call must have another React key. */
export function useCallAudio(callId: string): { readonly audio: CallAudio; readonly standing: CallAudioStanding } {
  const [audio] = useState(() => new CallAudio(callId));
  const standing = useSyncExternalStore(audio.subscribe, audio.standing);
  useEffect(() => () => void audio[Symbol.asyncDispose](), [audio]);
  return { audio, standing };
}

interface SoundProps {
  readonly audio: CallAudio;
  readonly standing: CallAudioStanding;
}

/** Listens to a call: both sides' levels, and which of them is heard. */
export function ListenPanel({ audio, standing }: SoundProps): ReactNode {
  const w = useWords(controlWords);
  const { heard, side } = standing;
  const isOn = heard === 'on' || heard === 'connecting';
  return (
    <Paper withBorder p="sm" component="section" aria-label={w.listen}>
      <Stack gap="xs">
        <Group justify="space-between">
          <Title order={2} size="h5">
            {w.listen}
          </Title>
          {isOn ? (
            <Button variant="default" size="xs" onClick={() => void audio.stop()}>
              {w.listenStop}
            </Button>
          ) : (
            <Button size="xs" onClick={() => audio.listen()}>
              {w.listenStart}
            </Button>
          )}
        </Group>
        <output className={classes['notice']}>
          {heard === 'connecting' ? <Text size="sm">{w.listenConnecting}</Text> : null}
          {heard === 'lost' ? <Text size="sm">{w.listenLost}</Text> : null}
          {heard === 'no-sound' ? <Text size="sm">{w.noSound}</Text> : null}
        </output>
        {heard === 'on' ? (
          <>
            <SegmentedControl
              size="xs"
              aria-label={w.sides}
              value={side}
              onChange={(value) => audio.choose(value)}
              data={[
                { value: 'both', label: w.both },
                { value: 'caller', label: w.caller },
                { value: 'bot', label: w.bot },
              ]}
            />
            <Meter audio={audio} of="caller" label={w.callerLevel} name={w.caller} />
            <Meter audio={audio} of="bot" label={w.botLevel} name={w.bot} />
          </>
        ) : null}
      </Stack>
    </Paper>
  );
}

/** Says, larger than anything else, that a person is heard by the caller. */
export function SpeakingBanner({ audio, standing }: SoundProps): ReactNode {
  const w = useWords(controlWords);
  const personName = usePersonName();
  const { takenOver, by } = standing;
  if (takenOver === 'you')
    return (
      <div className={classes['speaking']} role="alert">
        <div>
          <strong>{w.speaking}</strong>
          <p>{w.speakingHint}</p>
          <Meter audio={audio} of="you" label={w.yourLevel} name="" />
        </div>
        <Button size="md" color="dark" variant="filled" onClick={() => audio.giveBack()}>
          {w.giveBack}
        </Button>
      </div>
    );
  return takenOver === 'other' ? (
    <Alert color="yellow" variant="light" mb="sm" p="xs">
      {say(w.takenByOther, { who: personName(by ?? '') })}
    </Alert>
  ) : null;
}

/** Quiet speech fills a third of it, and a shout all. */
const FLOOR_DB = -54;

interface MeterProps {
  readonly audio: CallAudio;
  readonly of: keyof Levels;
  readonly label: string;
  readonly name: string;
}

/** A level, drawn past React: it changes twenty times a second. */
function Meter({ audio, of, label, name }: MeterProps): ReactNode {
  const meter = useRef<HTMLDivElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  useEffect(
    () =>
      audio.watchLevels((levels) => {
        const level = Math.max(0, 1 - (20 * Math.log10(Math.max(levels[of], 1e-4))) / FLOOR_DB);
        meter.current?.setAttribute('aria-valuenow', String(Math.round(100 * level)));
        if (bar.current !== null) bar.current.style.transform = `scaleX(${level.toFixed(2)})`;
      }),
    [audio, of],
  );
  return (
    <div className={classes['meter-row']}>
      {name === '' ? null : <span>{name}</span>}
      <div
        ref={meter}
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a <meter> cannot be drawn twenty times a second in every browser
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={0}
        className={classes['meter']}
        data-level={of}
      >
        <div ref={bar} />
      </div>
    </div>
  );
}
