// VitePress's own theme, with the fonts of the system, and a main landmark on the front page and on the page for missing addresses.
import DefaultTheme, { VPHomeFeatures, VPHomeHero } from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import NotFound from './NotFound.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h(NotFound) }),
  enhanceApp({ app }) {
    app.component('Hero', VPHomeHero).component('Features', VPHomeFeatures);
  },
};
