import { Badge, Button, Group, Paper, Text } from '@mantine/core';
import { type ReactNode, Suspense, useState } from 'react';
import type { DraftView } from '../../../../http/api/bots/bot-views.ts';
import { loaded } from '../../../parts/loaded.ts';
import { Failure, Loading } from '../../../parts/states.tsx';
import { useMay } from '../../../session.tsx';
import { say, useWords } from '../../../words.ts';
import type { TelephoneProps } from '../../talk/telephone.tsx';
import { DraftEval } from './draft-eval.tsx';
import { editWords } from './words.ts';

const Telephone = loaded<'Telephone', TelephoneProps>(() => import('../../talk/telephone.tsx'), 'Telephone');

interface StepsBarProps {
  readonly bot: string;
  /** Undefined where nothing was changed. */
  readonly draft: string | undefined;
  readonly isReadOnly: boolean;
  /** Whether the draft is without errors, as far as it was checked. */
  readonly isSound: boolean;
  /** The answer of the last whole check of this draft. */
  readonly whole: DraftView | undefined;
  readonly check: () => Promise<void>;
  /** The last step. */
  readonly children: ReactNode;
}

/** Check, chat, talk, evals and publish, in this order. */
export function StepsBar({ bot, draft, isReadOnly, isSound, whole, check, children }: StepsBarProps): ReactNode {
  const w = useWords(editWords);
  const mayTalk = useMay('calls:talk');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const [open, setOpen] = useState<'talk' | 'eval'>();
  const run = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    await check().catch((caught: unknown) => setError(caught instanceof Error ? caught : new Error(String(caught))));
    setBusy(false);
  };
  const toggle = (which: 'talk' | 'eval') => (): void => setOpen(open === which ? undefined : which);
  const toChat = (): void => {
    const button = document.querySelector<HTMLElement>('#draft-chat button, #draft-chat input');
    button?.scrollIntoView({ block: 'center' });
    button?.focus();
  };
  return (
    <Paper withBorder p="sm" component="section" aria-label={w.steps}>
      <Group gap="xs">
        <Button size="xs" variant="default" loading={isBusy} disabled={isReadOnly} onClick={() => void run()}>
          1. {w.check}
        </Button>
        <Button size="xs" variant="default" disabled={!mayTalk} onClick={toChat}>
          2. {w.chat}
        </Button>
        <Button size="xs" variant="default" disabled={!mayTalk} aria-expanded={open === 'talk'} onClick={toggle('talk')}>
          3. {w.talk}
        </Button>
        <Button size="xs" variant="default" aria-expanded={open === 'eval'} onClick={toggle('eval')}>
          4. {w.eval}
        </Button>
        {children}
        {whole === undefined || draft === undefined ? null : (
          <Badge variant="light" color={whole.ok ? 'offhook' : 'red'} component="output" c="var(--mantine-color-text)">
            {whole.ok ? `✓ ${w.checkOk}` : say(w.checkBad, { count: whole.problems.length })}
          </Badge>
        )}
      </Group>
      {error === undefined ? null : <Failure error={error} />}
      {open === 'talk' ? <DraftTalk bot={bot} draft={draft} /> : null}
      {open === 'eval' ? <DraftEval bot={bot} draft={draft} isSound={isSound} /> : null}
    </Paper>
  );
}

/** The telephone, answered by the draft. It stays while the draft is edited: a call goes on with what it began with. */
function DraftTalk({ bot, draft }: Pick<StepsBarProps, 'bot' | 'draft'>): ReactNode {
  const w = useWords(editWords);
  return (
    <div>
      <Text size="sm" my="sm">
        {draft === undefined ? w.talkPublished : w.talkHint}
      </Text>
      <Suspense fallback={<Loading />}>
        <Telephone bots={[{ name: bot }]} draft={draft} />
      </Suspense>
    </div>
  );
}
