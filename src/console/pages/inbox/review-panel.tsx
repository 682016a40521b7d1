import { Badge, Button, CloseButton, Group, Stack, TagsInput, Text, Textarea, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { clockText, useFormat } from '../../parts/format.ts';
import { Failure, Moment } from '../../parts/states.tsx';
import { useMay, useSession } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import css from './inbox.module.css';
import { type CallReview, useComments, useReview, useReviewChange } from './queries.ts';
import { inboxWords, reasonWords } from './words.ts';

/** What people decided about a call, and its comments. @param onListen plays from a finding, in ms since the call's start */
export function ReviewPanel({
  callId,
  onListen,
}: {
  readonly callId: string;
  readonly onListen?: (atMs: number) => void;
}): ReactNode {
  const { data, error, refetch } = useReview(callId);
  if (data === undefined) return error === null ? null : <Failure error={error} retry={() => void refetch()} />;
  return (
    <Stack gap="md" className={css['panel']}>
      <Findings review={data.review} onListen={onListen} />
      <Decision key={callId} callId={callId} review={data.review} />
      <Comments callId={callId} comments={data.comments} />
    </Stack>
  );
}

/** Why the call deserves a look, each with its moment. */
function Findings({
  review,
  onListen,
}: {
  readonly review: CallReview['review'];
  readonly onListen: ((atMs: number) => void) | undefined;
}): ReactNode {
  const w = useWords(inboxWords);
  const reasons = useWords(reasonWords);
  if (review === null) return null;
  return (
    <section aria-label={w.whyHere}>
      <Title order={3} size="h6" mb={6}>
        {w.whyHere}
      </Title>
      {review.findings.length === 0 ? (
        <Text size="sm" c="dimmed">
          {w.byHand}
        </Text>
      ) : null}
      <ul className="plain-list">
        {review.findings.map(({ reason, atMs, turn }) => (
          <li key={reason} className={css['finding']}>
            <span>
              {reasons[reason]}
              {turn === null ? null : <span className={css['faint']}> · {say(w.turn, { turn })}</span>}
            </span>
            {onListen === undefined ? (
              <span className="figures">{clockText(atMs)}</span>
            ) : (
              <Button
                size="compact-xs"
                variant="default"
                aria-label={`${reasons[reason]}: ${say(w.listen, { time: clockText(atMs) })}`}
                onClick={() => onListen(atMs)}
              >
                ▶ {clockText(atMs)}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Decision({ callId, review }: { readonly callId: string; readonly review: CallReview['review'] }): ReactNode {
  const w = useWords(inboxWords);
  const format = useFormat();
  const { user } = useSession();
  const may = useMay('calls:review');
  const change = useReviewChange(callId);
  const { state = 'open', labels = [], assignee = null, changedBy = null, changedAt = null } = review ?? {};
  const isDone = state === 'done';
  const isMine = assignee === user.name;
  return (
    <section aria-label={w.review}>
      {may ? (
        <Group gap="xs" mb="xs">
          <Button
            size="xs"
            variant={isDone ? 'default' : 'filled'}
            loading={change.isPending}
            onClick={() => change.mutate({ state: isDone ? 'open' : 'done' })}
          >
            {isDone ? w.reopen : w.markDone}
          </Button>
          <Button
            size="xs"
            variant="default"
            disabled={change.isPending}
            onClick={() => change.mutate({ assignee: isMine ? null : user.name })}
          >
            {isMine ? w.unassign : w.assignMe}
          </Button>
        </Group>
      ) : null}
      <Text size="xs" c="dimmed" mb={6}>
        {assignee === null ? w.nobody : say(w.assigned, { name: assignee })}
        {isDone && changedBy !== null && changedAt !== null
          ? ` · ${say(w.closedBy, { name: changedBy, at: format.time(changedAt) })}`
          : ''}
      </Text>
      {may ? (
        <TagsInput
          size="xs"
          label={w.labels}
          placeholder={labels.length === 0 ? w.labelsHint : ''}
          maxTags={10}
          value={[...labels]}
          onChange={(next) => change.mutate({ labels: next.map((label) => label.slice(0, 40)) })}
        />
      ) : (
        <Group gap={4}>
          {labels.map((label) => (
            <Badge key={label} variant="default" tt="none">
              {label}
            </Badge>
          ))}
        </Group>
      )}
      {change.error === null ? null : (
        <Text size="xs" c="red" role="alert" mt={4}>
          {w.failed}: {change.error.message}
        </Text>
      )}
    </section>
  );
}

/** Comments on a call, and a place for another one. */
function Comments({ callId, comments }: { readonly callId: string; readonly comments: CallReview['comments'] }): ReactNode {
  const w = useWords(inboxWords);
  const { user } = useSession();
  const [may, mayErase] = [useMay('calls:review'), useMay('privacy:write')];
  const { add, remove } = useComments(callId);
  const [text, setText] = useState('');
  const send = (): void => {
    if (text.trim() !== '') add.mutate(text, { onSuccess: () => setText('') });
  };
  const failure = add.error ?? remove.error;
  return (
    <section aria-label={w.comments}>
      <Title order={3} size="h6" mb={6}>
        {w.comments}
      </Title>
      {comments.length === 0 ? (
        <Text size="sm" c="dimmed">
          {w.noComments}
        </Text>
      ) : null}
      <ul className="plain-list">
        {comments.map(({ id, by, at, text: said }) => (
          <li key={id} className={css['comment']}>
            <Group justify="space-between" gap="xs" wrap="nowrap">
              <Text size="xs" c="dimmed">
                {by} · <Moment at={at} />
              </Text>
              {(may && by === user.name) || mayErase ? (
                <CloseButton size="xs" aria-label={say(w.removeComment, { name: by })} onClick={() => remove.mutate(id)} />
              ) : null}
            </Group>
            <Text size="sm" className="wrap" style={{ whiteSpace: 'pre-wrap' }}>
              {said}
            </Text>
          </li>
        ))}
      </ul>
      {may ? (
        <Stack gap={6} mt={8} align="start">
          <Textarea
            w="100%"
            size="sm"
            rows={3}
            maxLength={4_000}
            aria-label={w.comment}
            placeholder={w.commentHint}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            onKeyDown={({ key, ctrlKey, metaKey }) => key === 'Enter' && (ctrlKey || metaKey) && send()}
          />
          <Button size="xs" variant="default" loading={add.isPending} disabled={text.trim() === ''} onClick={send}>
            {w.send}
          </Button>
        </Stack>
      ) : null}
      {failure === null ? null : (
        <Text size="xs" c="red" role="alert" mt={4}>
          {w.failed}: {failure.message}
        </Text>
      )}
    </section>
  );
}

/** A link to the whole call. @param atMs where its sound is to stand, in ms on the drawing */
export function callLink(callId: string, atMs: number): string {
  return `/calls/${encodeURIComponent(callId)}?at=${(Math.max(0, atMs) / 1000).toFixed(1)}`;
}
