import { ActionIcon, Alert, Button, Card, Collapse, Group, Popover, Select, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import type { Level } from '../../audio/levels.ts';
import { audioDevices } from '../../audio/microphone.ts';
import { useNow } from '../../live/live.ts';
import type { Transcript } from '../../live/transcript.ts';
import { clockText, useFormat } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import { Keypad, Meter } from './keypad.tsx';
import classes from './talk.module.css';
import type { Devices, Talk, TalkProblem, TalkState } from './use-talk.ts';
import { talkWords } from './words.ts';

/** The telephone: bot, call state, both levels, and controls. */
export function CallPanel({
  talk,
  bots,
  chosen,
  choose,
  transcript,
}: {
  readonly talk: Talk;
  readonly bots: readonly string[];
  readonly chosen: string;
  readonly choose: (bot: string) => void;
  readonly transcript: Transcript;
}): ReactNode {
  const w = useWords(talkWords);
  const { state } = talk;
  const isBusy = state.name === 'starting' || state.name === 'live';
  const [keysShown, keys] = useDisclosure(true);
  return (
    <Card withBorder padding="lg" className={classes['panel'] ?? ''}>
      <Stack gap="md">
        <Group align="end" wrap="nowrap" gap="xs">
          <Select
            label={w.bot}
            data={[...bots]}
            value={chosen}
            allowDeselect={false}
            disabled={isBusy}
            onChange={(bot) => bot !== null && choose(bot)}
            searchable={bots.length > 8}
            flex={1}
          />
          <DeviceChoice talk={talk} />
        </Group>
        {state.name === 'idle' && state.problem !== undefined ? <Problem problem={state.problem} /> : null}
        <div className={classes['stage']} data-state={state.name}>
          <Floor talk={talk} transcript={transcript} bot={chosen} />
          <Meter
            level={talk.caller}
            name={w.you}
            label={say(w.level, { name: w.you })}
            note={talk.isMuted ? w.muted : undefined}
          />
          <Meter level={talk.bot} name={chosen} label={say(w.level, { name: chosen })} />
        </div>
        {isBusy ? (
          <Group justify="center" gap="sm">
            <Button
              variant="default"
              leftSection={<Icon name={talk.isMuted ? 'muted' : 'microphone'} />}
              aria-pressed={talk.isMuted}
              disabled={state.name !== 'live'}
              onClick={() => talk.mute(!talk.isMuted)}
            >
              {talk.isMuted ? w.unmute : w.mute}
            </Button>
            <ActionIcon
              variant="default"
              size={36}
              aria-label={w.keypad}
              aria-expanded={keysShown}
              disabled={state.name !== 'live'}
              onClick={keys.toggle}
            >
              <Icon name="keypad" />
            </ActionIcon>
            <Button color="red.9" leftSection={<Icon name="phone" />} onClick={() => talk.hangUp()}>
              {state.name === 'live' ? w.hangUp : w.cancel}
            </Button>
          </Group>
        ) : (
          <Button size="md" leftSection={<Icon name="phone" />} onClick={() => talk.call(chosen)} disabled={chosen === ''}>
            {state.name === 'over' ? w.again : w.call}
          </Button>
        )}
        <Collapse expanded={state.name === 'live' && keysShown}>
          {state.name === 'live' ? <Keypad press={(key) => talk.press(key)} /> : null}
        </Collapse>
        {state.name === 'idle' ? <Asks /> : null}
      </Stack>
    </Card>
  );
}

/** The floor in words; screen readers hear of the call's state, not of each change of the floor. */
function Floor({
  talk,
  transcript,
  bot,
}: {
  readonly talk: Talk;
  readonly transcript: Transcript;
  readonly bot: string;
}): ReactNode {
  const w = useWords(talkWords);
  const format = useFormat();
  const { state } = talk;
  const status = state.name === 'starting' ? w.connecting : state.name === 'over' ? `${w.over}. ${w[state.end]}` : '';
  return (
    <div className={classes['floor']}>
      {state.name === 'live' ? (
        <LiveFloor level={talk.bot} sinceMs={state.sinceMs} transcript={transcript} bot={bot} />
      ) : (
        <>
          <Text fw={600} size="lg">
            {status === '' ? w.intro : status}
          </Text>
          <Text className="figures" c="dimmed" size="sm">
            {state.name === 'over' ? format.duration(state.tookMs) : ''}
          </Text>
        </>
      )}
      <output className={classes['unseen']}>{status}</output>
    </div>
  );
}

function LiveFloor({
  level,
  sinceMs,
  transcript,
  bot,
}: {
  readonly level: Level;
  readonly sinceMs: number;
  readonly transcript: Transcript;
  readonly bot: string;
}): ReactNode {
  const w = useWords(talkWords);
  const nowMs = useNow();
  const [sounds, setSounds] = useState(false);
  useEffect(() => {
    const timer = setInterval(() => setSounds(level.sounds()), 100);
    return () => clearInterval(timer);
  }, [level]);
  const floor = floorOf(transcript, sounds);
  return (
    <>
      <Text fw={600} size="lg" data-floor={floor}>
        {say(w[FLOORS[floor]], { bot })}
      </Text>
      <Text className="figures" c="dimmed" size="sm">
        {clockText(nowMs - sinceMs)}
      </Text>
    </>
  );
}

type FloorName = 'bot' | 'caller' | 'held' | 'thinking' | 'listening';
const FLOORS = { bot: 'botSpeaks', caller: 'callerSpeaks', held: 'held', thinking: 'thinking', listening: 'listening' } as const;

/** Combines news with local audio, since news arrive a moment later. */
function floorOf({ lines, partial }: Transcript, botSounds: boolean): FloorName {
  const last = lines.at(-1);
  const mark = last?.type === 'bot' && last.outcome === undefined ? last.marks.at(-1) : undefined;
  if (mark?.what === 'hold') return 'held';
  if (botSounds) return 'bot';
  if (partial !== '') return 'caller';
  return last?.type === 'caller' ? 'thinking' : 'listening';
}

const HINTS = {
  denied: 'deniedHint',
  missing: 'missingHint',
  busy: 'busyHint',
  insecure: 'insecureHint',
  failed: 'missingHint',
} as const;

/** What is wrong, and what to do next. */
function Problem({ problem }: { readonly problem: TalkProblem }): ReactNode {
  const w = useWords(talkWords);
  if (typeof problem === 'object' && 'microphone' in problem)
    return (
      <Alert
        variant="default"
        role="alert"
        icon={<Icon name="muted" />}
        title={problem.microphone === 'failed' ? w.failed : w[problem.microphone]}
      >
        {w[HINTS[problem.microphone]]}
      </Alert>
    );
  return (
    <Alert variant="default" role="alert" title={w.failed}>
      {typeof problem === 'object' ? problem.refused : problem === 'unreachable' ? w.unreachable : w.noSocket}
    </Alert>
  );
}

/** What the browser will do, or has decided already. */
function Asks(): ReactNode {
  const w = useWords(talkWords);
  const [standing, setStanding] = useState<PermissionState | 'insecure' | undefined>(isSecureContext ? undefined : 'insecure');
  useEffect(() => {
    if (!isSecureContext) return undefined;
    let status: PermissionStatus | undefined;
    const changed = (): void => setStanding(status?.state);
    // Some browsers cannot be asked.
    navigator.permissions
      .query({ name: 'microphone' })
      .then((found) => {
        status = found;
        status.addEventListener('change', changed);
        changed();
      })
      .catch(() => undefined);
    return () => status?.removeEventListener('change', changed);
  }, []);
  if (standing === 'denied' || standing === 'insecure') return <Problem problem={{ microphone: standing }} />;
  return (
    <Text size="sm" c="dimmed">
      {w.introHint} {standing === 'prompt' ? w.asks : ''}
    </Text>
  );
}

/** Which microphone and which speaker: names are known once the microphone was allowed. */
function DeviceChoice({ talk }: { readonly talk: Talk }): ReactNode {
  const w = useWords(talkWords);
  const [found, setFound] = useState<Awaited<ReturnType<typeof audioDevices>>>({ inputs: [], outputs: [] });
  const look = useCallback((): void => void audioDevices().then(setFound, () => undefined), []);
  useEffect(() => {
    const devices = navigator.mediaDevices as MediaDevices | undefined;
    devices?.addEventListener('devicechange', look);
    return () => devices?.removeEventListener('devicechange', look);
  }, [look]);
  const choice = (name: keyof Devices, label: string, devices: readonly MediaDeviceInfo[]): ReactNode => (
    <Select
      label={label}
      value={talk.devices[name] ?? ''}
      allowDeselect={false}
      comboboxProps={{ withinPortal: false }}
      data={[
        { value: '', label: w.systemChoice },
        ...devices
          .filter(({ deviceId }) => deviceId !== 'default')
          .map(({ deviceId, label: device }, at) => ({ value: deviceId, label: device === '' ? `${label} ${at + 1}` : device })),
      ]}
      onChange={(id) => talk.choose({ ...talk.devices, [name]: id === '' ? undefined : (id ?? undefined) })}
    />
  );
  return (
    <Popover width={320} position="bottom-end" trapFocus onOpen={look}>
      <Popover.Target>
        <ActionIcon variant="default" size={36} aria-label={w.devices}>
          <Icon name="settings" />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={w.devices}>
        <Stack gap="sm">
          {choice('microphoneId', w.microphone, found.inputs)}
          {choice('speakerId', w.speaker, found.outputs)}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

/** How the call of this state is called when it has one. */
export function callIdOf(state: TalkState): string | undefined {
  return state.name === 'idle' ? undefined : state.callId;
}

/** Strokes of 24 × 24 pictures. */
const ICON_PATHS = {
  phone:
    'M6.6 3.5 9 4l1.2 4-2 1.6a13 13 0 0 0 6.2 6.2l1.6-2 4 1.2.5 2.4a2 2 0 0 1-2 2.6C10.800 19.500 4.500 13.200 4 5.500a2 2 0 0 1 2.600-2z',
  microphone: 'M12 3a3 3 0 0 1 3 3v6a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM5 11a7 7 0 0 0 14 0M12 18v3',
  muted: 'M9 9V6a3 3 0 0 1 6 0v6M12 15a3 3 0 0 1-3-3M5 11a7 7 0 0 0 11.500 5.300M19 11a7 7 0 0 1-.6 2.800M12 18v3M4 4l16 16',
  keypad: 'M6 5h.01M12 5h.01M18 5h.01M6 11h.01M12 11h.01M18 11h.01M6 17h.01M12 17h.01M18 17h.01',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
} as const;

/** A picture beside words, or on a button that has a name. */
function Icon({ name }: { readonly name: keyof typeof ICON_PATHS }): ReactNode {
  return (
    <svg
      width={18}
      height={18}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'keypad' ? 3 : 2}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
    >
      <path d={ICON_PATHS[name]} />
    </svg>
  );
}
