import { Modal, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { useWords, words } from '../words.ts';
import { useOfferedActions } from './actions.ts';

const texts = words(
  {
    title: 'Keyboard help',
    close: 'Close',
    lists: 'Move in a list',
    open: 'Open the row',
    leave: 'Close a dialog',
  },
  {
    title: 'कुंजी सहायता',
    close: 'बंद करें',
    lists: 'सूची में चलें',
    open: 'पंक्ति खोलें',
    leave: 'संवाद बंद करें',
  },
);

/** Every key that does something on this page. */
export function KeyHelp({ close }: { readonly close: () => void }): ReactNode {
  const w = useWords(texts);
  const keyed = useOfferedActions().flatMap(({ name, keys }) => (keys === undefined ? [] : [[keysText(keys), name] as const]));
  const rows = [...keyed, ['↑ ↓', w.lists], ['Enter', w.open], ['Esc', w.leave]] as const;
  return (
    <Modal
      opened
      onClose={close}
      title={w.title}
      lockScroll={false}
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ 'aria-label': w.close }}
    >
      <Table verticalSpacing={6} withRowBorders={false}>
        <Table.Tbody>
          {rows.map(([keys, name]) => (
            <Table.Tr key={`${keys} ${name}`}>
              <Table.Td>{name}</Table.Td>
              <Table.Td ta="right">
                <kbd className="key">{keys}</kbd>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}

/** `mod+k` as it is written on keyboards: `Ctrl K`. */
function keysText(keys: string): string {
  return keys
    .split('+')
    .map((key) => (key === 'mod' ? 'Ctrl' : key.toUpperCase()))
    .join(' ');
}
