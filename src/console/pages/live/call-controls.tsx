import { Alert, Button, Group, Paper, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useRef, useState } from 'react';
import { post } from '../../api.ts';
import { useNow } from '../../live/live.ts';
import type { LiveCallView } from '../../live/watch-client.ts';
import { Failure } from '../../parts/states.tsx';
import { useConfirm } from '../../parts/confirm.tsx';
import { clockText } from '../../parts/format.ts';
import { usePersonName } from '../../parts/orders.ts';
import { useSession } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import type { CallAudio, CallAudioStanding } from './call-audio.ts';
import { controlWords } from './call-words.ts';
import classes from './live.module.css';

type Act = 'say' | 'whisper' | 'mute' | 'transfer' | 'hang-up';
interface Order {
  readonly act: Act;
  readonly body: { readonly text: string } | { readonly to: string } | { readonly on?: boolean };
}

/** Orders to a call: one after the other, so that what is typed while one is on its way waits, and is shown. */
function useOrders(callId: string, onRefused: (order: Order) => void) {
  const [orders, setOrders] = useState<readonly Order[]>([]);
  const [error, setError] = useState<Error>();
  const { mutate, isSuccess, variables, reset } = useMutation({
    scope: { id: `orders of ${callId}` },
    mutationFn: ({ act, body }: Order) => post(`/live-calls/${encodeURIComponent(callId)}/${act}`, body),
    onError(problem, order) {
      setError(problem);
      onRefused(order);
    },
    onSettled: (_answer, _problem, order) => setOrders((now) => now.filter((each) => each !== order)),
  });
  return {
    error,
    /** The order that was carried out last, until something new is typed. */
    done: isSuccess ? variables.act : undefined,
    forget: () => (orders.length === 0 ? reset() : undefined),
    isBusy: (act: Act): boolean => orders.some((order) => order.act === act),
    waiting: orders.flatMap(({ act, body }) => (act === 'say' && 'text' in body ? [body.text] : [])),
    send: (order: Order): void => {
      setError(undefined);
      setOrders((now) => [...now, order]);
      mutate(order);
    },
  };
}

/** What an operator can do to a call. A refusal is shown as the gateway says it. */
export function CallControls(props: {
  readonly call: LiveCallView;
  readonly audio: CallAudio;
  readonly standing: CallAudioStanding;
  /** Taking over by voice wants to hear the caller too. */
  readonly mayListen: boolean;
}): ReactNode {
  const { call, audio, standing, mayListen } = props;
  const w = useWords(controlWords);
  const { user } = useSession();
  const personName = usePersonName();
  const [text, setText] = useState('');
  const textArea = useRef<HTMLTextAreaElement>(null);
  const { error, done, forget, isBusy, waiting, send } = useOrders(call.id, ({ body }) => {
    // What was refused can be sent again.
    if ('text' in body) setText((now) => (now === '' ? body.text : now));
  });
  const tell = (act: 'say' | 'whisper') => {
    send({ act, body: { text } });
    setText('');
  };
  const { takenOver, microphone, refused } = standing;
  const holder = call.mutedBy;
  const isHeld = holder !== null && holder !== `console ${user.name}`;
  const isTaken = takenOver !== null || call.takenOver !== null || isHeld;
  return (
    <Paper withBorder p="sm" component="section" aria-label={w.control}>
      <Stack gap="sm">
        <Title order={2} size="h5">
          {w.control}
        </Title>
        {isHeld ? (
          <Alert color="yellow" variant="light" p="xs" title={say(w.heldBy, { who: personName(holder) })}>
            {w.heldHint}
          </Alert>
        ) : null}
        {mayListen ? (
          <Button onClick={() => void audio.takeOver()} disabled={isTaken} loading={takenOver === 'asked'} fullWidth>
            {w.takeOver}
          </Button>
        ) : null}
        {microphone === undefined ? null : <Problem>{w[`mic-${microphone}`]}</Problem>}
        {refused === undefined ? null : <Problem>{refused}</Problem>}
        {call.muted && call.takenOver === null && !isHeld ? (
          <Muted until={call.mutedUntil} isBusy={isBusy('mute')} unmute={() => send({ act: 'mute', body: { on: false } })} />
        ) : (
          <Button
            variant="default"
            fullWidth
            disabled={isTaken}
            loading={isBusy('mute')}
            onClick={() => {
              send({ act: 'mute', body: {} });
              // The button goes away; typing goes on in the text.
              textArea.current?.focus();
            }}
          >
            {w.typeOver}
          </Button>
        )}
        <Textarea
          ref={textArea}
          label={w.text}
          placeholder={w.textHint}
          value={text}
          maxLength={2_000}
          autosize
          minRows={2}
          maxRows={6}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            forget();
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || text.trim() === '') return;
            if (isHeld || (!call.muted && !isBusy('mute'))) return;
            event.preventDefault();
            if (!event.repeat) tell('say');
          }}
        />
        <Group gap="xs" grow>
          <Button variant="default" disabled={isHeld || text.trim() === ''} onClick={() => tell('say')}>
            {w.say}
          </Button>
          <Button variant="default" disabled={text.trim() === ''} onClick={() => tell('whisper')}>
            {w.whisper}
          </Button>
        </Group>
        <Waiting texts={waiting} />
        <output className={classes['notice']}>
          {done === 'say' ? <Text size="sm">{w.said}</Text> : null}
          {done === 'whisper' ? <Text size="sm">{w.whispered}</Text> : null}
        </output>
        {error === undefined ? null : <Failure error={error} />}
        <Leaving
          isBusy={isBusy('transfer') || isBusy('hang-up')}
          transfer={(to) => send({ act: 'transfer', body: { to } })}
          hangUp={() => send({ act: 'hang-up', body: {} })}
        />
      </Stack>
    </Paper>
  );
}

/** Texts that are to be said after the order that is on its way. */
function Waiting({ texts }: { readonly texts: readonly string[] }): ReactNode {
  const w = useWords(controlWords);
  return texts.length === 0 ? null : (
    <ul className="plain-list" aria-label={w.waiting}>
      {texts.map((each, at) => (
        // The same may wait twice.
        <li key={at}>
          <Text size="sm" c="dimmed" className="wrap">
            … {each}
          </Text>
        </li>
      ))}
    </ul>
  );
}

function Problem({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <Alert color="red" variant="light" role="alert" p="xs">
      {children}
    </Alert>
  );
}

function Muted(props: { readonly until: string | null; readonly isBusy: boolean; readonly unmute: () => void }): ReactNode {
  const { until, isBusy, unmute } = props;
  const w = useWords(controlWords);
  const now = useNow();
  return (
    <Alert color="yellow" variant="light" title={w.mutedTitle} p="xs">
      <Stack gap="xs">
        {until === null ? null : (
          <Text size="sm" className="figures">
            {say(w.mutedLeft, { time: clockText(Date.parse(until) - now) })}
          </Text>
        )}
        <Button onClick={unmute} loading={isBusy}>
          {w.unmute}
        </Button>
      </Stack>
    </Alert>
  );
}

/** What ends the bot's part, each asked once more. */
function Leaving(props: {
  readonly isBusy: boolean;
  readonly transfer: (to: string) => void;
  readonly hangUp: () => void;
}): ReactNode {
  const { isBusy, transfer, hangUp } = props;
  const w = useWords(controlWords);
  const [to, setTo] = useState('');
  const transferring = useConfirm({
    title: w.transfer,
    label: w.transfer,
    children: say(w.transferAsk, { to: to.trim() }),
    act: () => transfer(to.trim()),
  });
  const hangingUp = useConfirm({ title: w.hangUp, label: w.hangUp, color: 'red', children: w.hangUpAsk, act: hangUp });
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (to.trim() !== '') transferring.ask();
        }}
      >
        <Group gap="xs" align="end" wrap="nowrap">
          <TextInput
            label={w.transferTo}
            placeholder={w.transferHint}
            value={to}
            onChange={({ currentTarget }) => setTo(currentTarget.value)}
            flex={1}
          />
          <Button type="submit" variant="default" disabled={to.trim() === '' || isBusy}>
            {w.transfer}
          </Button>
        </Group>
      </form>
      <Button color="red" variant="outline" c="var(--mantine-color-error)" disabled={isBusy} onClick={hangingUp.ask}>
        {w.hangUp}
      </Button>
      {transferring.dialog}
      {hangingUp.dialog}
    </>
  );
}
