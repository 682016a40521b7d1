import { Alert, Button, Group, Modal, Paper, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { post } from '../../api.ts';
import { useNow } from '../../live/live.ts';
import type { LiveCallView } from '../../live/watch-client.ts';
import { Failure } from '../../parts/states.tsx';
import { clockText } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import type { CallAudio, CallAudioStanding } from './call-audio.ts';
import { controlWords } from './call-words.ts';
import classes from './live.module.css';

type Act = 'say' | 'whisper' | 'mute' | 'transfer' | 'hang-up';

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
  const { mutate, error, isPending, isSuccess, variables, reset } = useMutation({
    mutationFn: ({ act, body }: { readonly act: Act; readonly body: object; readonly done?: () => void }) =>
      post(`/live-calls/${encodeURIComponent(call.id)}/${act}`, body),
    onSuccess: (_answer, { done }) => done?.(),
  });
  const [text, setText] = useState('');
  const tell = (act: 'say' | 'whisper') => mutate({ act, body: { text }, done: () => setText('') });
  const { takenOver, microphone, refused } = standing;
  const isTaken = takenOver !== null || call.takenOver !== null;
  const isBusy = (act: Act): boolean => isPending && variables.act === act;
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
          <Muted until={call.mutedUntil} isBusy={isBusy('mute')} unmute={() => mutate({ act: 'mute', body: { on: false } })} />
        ) : (
          <Button
            variant="default"
            fullWidth
            disabled={isTaken}
            loading={isBusy('mute')}
            onClick={() => mutate({ act: 'mute', body: {} })}
          >
            {w.typeOver}
          </Button>
        )}
        <Textarea
          label={w.text}
          placeholder={w.textHint}
          value={text}
          maxLength={2_000}
          autosize
          minRows={2}
          maxRows={6}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            if (!isPending) reset();
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || text.trim() === '' || !call.muted)
              return;
            event.preventDefault();
            if (isPending || event.repeat) return;
            tell('say');
          }}
        />
        <Stack gap="xs">
          <Button variant="default" disabled={text.trim() === ''} loading={isBusy('say')} onClick={() => tell('say')}>
            {w.say}
          </Button>
          <Button variant="default" disabled={text.trim() === ''} loading={isBusy('whisper')} onClick={() => tell('whisper')}>
            {w.whisper}
          </Button>
        </Stack>
        <output className={classes['notice']}>
          {isSuccess && variables.act === 'say' ? <Text size="sm">{w.said}</Text> : null}
          {isSuccess && variables.act === 'whisper' ? <Text size="sm">{w.whispered}</Text> : null}
        </output>
        {error === null ? null : <Failure error={error} />}
        <Leaving
          isBusy={isBusy('transfer') || isBusy('hang-up')}
          transfer={(to) => mutate({ act: 'transfer', body: { to } })}
          hangUp={() => mutate({ act: 'hang-up', body: {} })}
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
  const [asked, setAsked] = useState<'transfer' | 'hang-up'>();
  const isTransfer = asked === 'transfer';
  const close = () => setAsked(undefined);
  const name = isTransfer ? w.transfer : w.hangUp;
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (to.trim() !== '') setAsked('transfer');
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
      <Button color="red" variant="outline" c="var(--mantine-color-error)" disabled={isBusy} onClick={() => setAsked('hang-up')}>
        {w.hangUp}
      </Button>
      <Modal
        transitionProps={{ duration: 0 }}
        lockScroll={false}
        opened={asked !== undefined}
        onClose={close}
        title={name}
        centered
        closeButtonProps={{ 'aria-label': w.cancel }}
      >
        <Text mb="md">{isTransfer ? say(w.transferAsk, { to: to.trim() }) : w.hangUpAsk}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            {w.cancel}
          </Button>
          <Button
            {...(isTransfer ? {} : { color: 'red' })}
            onClick={() => {
              close();
              if (isTransfer) transfer(to.trim());
              else hangUp();
            }}
          >
            {name}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
