export default function Page() {
  return null;
}

export const getServerSideProps = () => {
  throw new Error("boom");
};
