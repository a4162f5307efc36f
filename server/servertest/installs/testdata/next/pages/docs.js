export default function Page() {
  return <p>this is docs</p>;
}

export const getServerSideProps = () => ({ props: {} });
