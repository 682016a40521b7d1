import { Alert, Button, Group, Paper, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useRef, useState } from 'react';
import { post } from '../../api.ts';
import { useNow } from '../../live/live.ts';
import type { LiveCallView } from '../../live/watch-client.ts';
import { Failure } from '../../parts/states.tsx';
import { useConfirm } from '../../parts/confirm.tsx';
import { clockText } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import type { CallAudio, CallAudioStanding } from './call-audio.ts';
import { controlWords } from './call-words.ts';
import classes from './live.module.css';

type Act = 'say' | 'whisper' | 'mute' | 'transfer' | 'hang-up';
interface Order {
  readonly act: Act;
  readonly body: { readonly text: string } | { readonly to: string } | { readonly on?: boolean };
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
  const [orders, setOrders] = useState<readonly Order[]>([]);
  const [error, setError] = useState<Error>();
  const [text, setText] = useState('');
  const textArea = useRef<HTMLTextAreaElement>(null);
  const { mutate, isSuccess, variables, reset } = useMutation({
    // One after the other: an order that comes while another is on its way waits.
    scope: { id: `orders of ${call.id}` },
    mutationFn: ({ act, body }: Order) => post(`/live-calls/${encodeURIComponent(call.id)}/${act}`, body),
    onError(problem, { body }) {
      setError(problem);
      // What was refused can be sent again.
      if ('text' in body) setText((now) => (now === '' ? body.text : now));
    },
    onSettled: (_answer, _problem, order) => setOrders((now) => now.filter((each) => each !== order)),
  });
  const send = (order: Order) => {
    setError(undefined);
    setOrders((now) => [...now, order]);
    mutate(order);
  };
  const tell = (act: 'say' | 'whisper') => {
    send({ act, body: { text } });
    setText('');
  };
  const { takenOver, microphone, refused } = standing;
  const isTaken = takenOver !== null || call.takenOver !== null;
  const isBusy = (act: Act): boolean => orders.some((order) => order.act === act);
  const waiting = orders.flatMap(({ act, body }) => (act === 'say' && 'text' in body ? [body.text] : []));
  return (
    <Paper withBorder p="sm" component="section" aria-label={w.control}>
      <Stack gap="sm">
        <Title order={2} size="h5">
          {w.control}
        </Title>
        {mayListen ? (
          <Button onClick={() => void audio.takeOver()} disabled={isTaken} loading={takenOver === 'asked'} fullWidth>
            {w.takeOver}
          </Button>
        ) : null}
        {microphone === undefined ? null : <Problem>{w[`mic-${microphone}`]}</Problem>}
        {refused === undefined ? null : <Problem>{refused}</Problem>}
        {call.muted && call.takenOver === null ? (
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
            if (orders.length === 0) reset();
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || text.trim() === '') return;
            if (!call.muted && !isBusy('mute')) return;
            event.preventDefault();
            if (!event.repeat) tell('say');
          }}
        />
        <Stack gap="xs">
          <Button variant="default" disabled={text.trim() === ''} onClick={() => tell('say')}>
            {w.say}
          </Button>
          <Button variant="default" disabled={text.trim() === ''} onClick={() => tell('whisper')}>
            {w.whisper}
          </Button>
        </Stack>
        {waiting.length === 0 ? null : (
          <ul className="plain-list" aria-label={w.waiting}>
            {waiting.map((each, at) => (
              // The same may wait twice.
              <li key={at}>
                <Text size="sm" c="dimmed" className="wrap">
                  … {each}
                </Text>
              </li>
            ))}
          </ul>
        )}
        <output className={classes['notice']}>
          {isSuccess && variables.act === 'say' ? <Text size="sm">{w.said}</Text> : null}
          {isSuccess && variables.act === 'whisper' ? <Text size="sm">{w.whispered}</Text> : null}
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
