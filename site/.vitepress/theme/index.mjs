// VitePress's own theme, with the fonts of the system and a page of its own for missing addresses.
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import NotFound from './NotFound.vue';
import './style.css';
import './home.css';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h(NotFound) }),
};
