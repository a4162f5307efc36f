export default function Page() {
  return <p>this is index</p>;
}

export const getServerSideProps = () => ({ props: {} });
