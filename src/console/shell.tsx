import { ActionIcon, Box, Burger, Group, Menu, Text, useMantineColorScheme } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Contrast, Search } from 'lucide-react';
import { type ReactNode, Suspense, use, useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import icon from './icon.svg';
import { menuWords } from './pages/menu-words.ts';
import { type ConsolePage, MENU_GROUPS, PAGES } from './pages/pages.ts';
import { useActions, useKeys } from './parts/actions.ts';
import { loaded } from './parts/loaded.ts';
import { Empty, Loading, PageBoundary } from './parts/states.tsx';
import { useSession } from './session.tsx';
import classes from './shell.module.css';
import { LANGUAGES, LanguageContext, type Language, useWords, words } from './words.ts';

const shellWords = words(
  {
    skip: 'Skip to the content',
    menu: 'Menu',
    navigation: 'Pages',
    theme: 'Light or dark',
    language: 'Language',
    find: 'Find anything',
    keys: 'Keyboard help',
    nothing: 'There is no such page',
    nothingHint: 'Or your role does not have it. The pages that you have are in the menu.',
  },
  {
    skip: 'सामग्री पर जाएँ',
    menu: 'मेन्यू',
    navigation: 'पृष्ठ',
    theme: 'हल्का या गहरा',
    language: 'भाषा',
    find: 'कुछ भी खोजें',
    keys: 'कुंजी सहायता',
    nothing: 'ऐसा कोई पृष्ठ नहीं है',
    nothingHint: 'या आपकी भूमिका में यह नहीं है। आपके पृष्ठ मेन्यू में हैं।',
  },
);

const Palette = loaded(() => import('./parts/palette.tsx'), 'Palette');
const KeyHelp = loaded(() => import('./parts/key-help.tsx'), 'KeyHelp');

/** The frame around every page: menu, search, language, theme, account. */
export function Shell({ account }: { readonly account?: ReactNode }): ReactNode {
  const w = useWords(shellWords);
  const { scopes } = useSession();
  const [opened, { toggle, close }] = useDisclosure();
  const [dialog, setDialog] = useState<'palette' | 'keys'>();
  const pages = PAGES.filter(({ scope }) => scopes.includes(scope));
  useKeys();
  useActions([
    { name: w.find, keys: 'mod+k', run: () => setDialog('palette') },
    { name: w.keys, keys: '?', run: () => setDialog('keys') },
  ]);
  return (
    <div data-menu={opened || undefined}>
      <a href="#content" className="skip">
        {w.skip}
      </a>
      <header className={classes['top']}>
        <Burger opened={opened} onClick={toggle} size="sm" aria-label={w.menu} />
        <Brand />
        <ActionIcon variant="subtle" color="gray" size="lg" ml="auto" aria-label={w.find} onClick={() => setDialog('palette')}>
          <Search size={18} aria-hidden />
        </ActionIcon>
      </header>
      <nav className={classes['bar']} aria-label={w.navigation}>
        <Group className={classes['brand']} justify="space-between" wrap="nowrap">
          <Brand />
          <Burger opened={opened} onClick={close} hiddenFrom="sm" size="sm" aria-label={w.menu} />
        </Group>
        <button type="button" className={classes['search']} onClick={() => setDialog('palette')}>
          <Search size={14} aria-hidden />
          <span className={classes['name']}>{w.find}</span>
          <kbd aria-hidden>Ctrl K</kbd>
        </button>
        <Pages pages={pages} onOpen={close} />
        <div className={classes['foot']}>
          <div className={classes['account']}>{account}</div>
          <LanguageMenu />
          <ThemeButton />
        </div>
      </nav>
      <main id="content" tabIndex={-1} className={classes['main']}>
        <Content pages={pages} />
      </main>
      {dialog === undefined ? null : (
        <PageBoundary>
          <Suspense>
            {dialog === 'palette' ? (
              <Palette pages={pages} close={() => setDialog(undefined)} />
            ) : (
              <KeyHelp close={() => setDialog(undefined)} />
            )}
          </Suspense>
        </PageBoundary>
      )}
    </div>
  );
}

function Brand(): ReactNode {
  return (
    <Group gap={8} wrap="nowrap">
      <img src={icon} alt="" width={22} height={22} />
      <Text fw={600} size="sm">
        Offhook
      </Text>
    </Group>
  );
}

/** The menu: pages in groups. */
function Pages({ pages, onOpen }: { readonly pages: readonly ConsolePage[]; readonly onOpen: () => void }): ReactNode {
  const w = useWords(menuWords);
  return (
    <div className={classes['pages']}>
      {MENU_GROUPS.map((group) => {
        const inside = pages.filter(({ menu }) => menu?.group === group);
        return inside.length === 0 ? null : (
          <div key={group}>
            <p id={`menu-${group}`} className={classes['group']}>
              {w[group]}
            </p>
            <ul className="plain-list" aria-labelledby={`menu-${group}`}>
              {inside.map((page) => (
                <PageLink key={page.path} page={page} onOpen={onOpen} />
              ))}
            </ul>
          </div>
        );
      })}
    </div>
  );
}

/** A page's icon, its name and what waits on it. */
function PageLink({ page, onOpen }: { readonly page: ConsolePage; readonly onOpen: () => void }): ReactNode {
  const w = useWords(menuWords);
  const [path] = useLocation();
  const { path: to, menu } = page;
  if (menu === undefined) return null;
  const { icon: Icon, name, badge: Badge } = menu;
  return (
    <li>
      <Link
        href={to}
        className={classes['page']}
        data-active={path === to || path.startsWith(`${to}/`) || undefined}
        aria-current={path === to ? 'page' : undefined}
        onClick={onOpen}
      >
        <Icon size={16} strokeWidth={1.75} aria-hidden />
        <span className={classes['name']}>{w[name]}</span>
        {Badge === undefined ? null : <Badge />}
      </Link>
    </li>
  );
}

/** The page of the address. */
function Content({ pages }: { readonly pages: readonly ConsolePage[] }): ReactNode {
  const w = useWords(shellWords);
  const [path] = useLocation();
  const first = pages.find(({ menu }) => menu !== undefined);
  return (
    <PageBoundary key={path.split('/')[1]}>
      <Suspense fallback={<Loading />}>
        <Switch>
          {pages.map(({ path: at, view: View }) => (
            <Route key={at} path={at}>
              <View />
            </Route>
          ))}
          {first === undefined ? null : (
            <Route path="/">
              <Redirect to={first.path} replace />
            </Route>
          )}
          <Route>
            <Empty title={w.nothing}>{w.nothingHint}</Empty>
          </Route>
        </Switch>
      </Suspense>
    </PageBoundary>
  );
}

export function LanguageMenu(): ReactNode {
  const w = useWords(shellWords);
  const { language, choose } = use(LanguageContext);
  const short = language === 'hi' ? 'हि' : 'En';
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`${w.language}: ${short}`}>
          <Box component="span" fz="sm" c="var(--mantine-color-text)">
            {short}
          </Box>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <Menu.Item key={code} lang={code} onClick={() => choose(code as Language)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

export function ThemeButton(): ReactNode {
  const w = useWords(shellWords);
  const { toggleColorScheme } = useMantineColorScheme();
  return (
    <ActionIcon variant="subtle" color="gray" size="lg" aria-label={w.theme} onClick={toggleColorScheme}>
      <Contrast size={16} aria-hidden />
    </ActionIcon>
  );
}
