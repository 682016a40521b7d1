import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { get } from '../../api.ts';
import { Page, Empty, Failure, Loading } from '../../parts/states.tsx';
import { useWords } from '../../words.ts';
import { type BotList, Telephone } from './telephone.tsx';
import { talkWords } from './words.ts';

/** A telephone in the page: calls a bot, and shows what happens in the call as it happens. */
export function TalkPage(): ReactNode {
  const w = useWords(talkWords);
  const { data, error, refetch } = useQuery({ queryKey: ['bots'], queryFn: ({ signal }) => get<BotList>('/bots', signal) });
  if (error !== null && data === undefined) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <Page title={w.title}>
      {data === undefined ? (
        <Loading />
      ) : data.bots.length === 0 ? (
        <Empty title={w.noBots}>{w.noBotsHint}</Empty>
      ) : (
        <Telephone bots={data.bots} />
      )}
    </Page>
  );
}
